"""The commands of `python -m drift`, and what people see of them."""
