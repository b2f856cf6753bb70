"""The local host: the function's routes on loopback, for this machine alone."""
