"""What practice-lint knows of Python: one table of checks (checks.py), each a small function over a
parsed file (tree.py).
"""
