"""The algorithm: read `drift.py` first."""
