"""Two hosts for the function's own routes on loopback: one of ours, and the real Azure worker."""
