"""Measurements: benchmarks and evaluations."""
