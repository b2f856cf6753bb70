"""Measurements: benchmarks and evaluations, never deployed."""
