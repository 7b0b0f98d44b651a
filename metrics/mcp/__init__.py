"""The Model Context Protocol as a server speaks it: one endpoint, JSON-RPC message in, message out.

wire       messages, versions of the protocol, what a reply looks like; no tool is known there
tools      the table of tools; asking, telling, judging do their work
resources  panels and records as documents;   prompts   ready-made questions
waits      who waits for which answer, and what was asked in which session
endpoint   the routes: a message finds its method here
"""
