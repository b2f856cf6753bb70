"""Load on the function: the callers, and the process that is put under load."""
