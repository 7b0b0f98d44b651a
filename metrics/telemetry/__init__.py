"""What a server tells monitoring programs, when it is asked to: OpenTelemetry spans and sums, sent to a
collector, and Prometheus' text, fetched from it.

Off unless BENCH_TELEMETRY names one. It watches the bus and reads the ledger's sums, so a request never waits
for it; what it cannot keep up with is dropped and counted. No words of a prompt or an answer are in any of
it: of a call it tells what the ledger's row tells.
"""
