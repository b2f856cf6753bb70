"""`python -m drift doctor`: this machine and its servers, or the parameters of a deployment."""
