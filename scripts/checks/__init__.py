"""The parts of scripts/check.py. Each looks at a `tree.Tree` and returns a `tree.Check` per rule it knows."""
