"""Measurements, run by hand: `python -m tests.bench.<name> [options] --json`. None is shipped.

They want the extras `local` and `test`. docs/benchmarks.md and docs/recall.md have their figures.
"""
