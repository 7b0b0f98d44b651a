"""The parts of scripts/agents.py: a scripted model, the agents and how each runs headless, and the jobs that
they are given."""
