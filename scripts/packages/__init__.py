"""The packages: one list of files (manifest), and a module for each form they take."""
