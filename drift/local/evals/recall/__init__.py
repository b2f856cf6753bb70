"""How much of the evidence is found, on questions whose evidence is known."""
