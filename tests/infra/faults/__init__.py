"""Faults that a tired editor plants in infra/, and what shows which rule finds each."""
