"""`python -m drift bench`: one module for each measurement."""
