"""Faults that a tired editor plants in infra/, and the machinery that shows which rule finds each."""
