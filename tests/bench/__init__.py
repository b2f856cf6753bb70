"""Measurements, run by hand: each prints its figures, and none is deployed."""
