"""What works on the house rather than in it: checks, benchmarks, packages. Nothing in metrics/ may import
this."""
