"""`python -m drift eval`: one module for each evaluation."""
