"""`python -m drift`."""

from drift.cli import main

main()
