"""The parts of scripts/bench_gateway.py: a provider that costs nothing, a load, and a history to carry."""
