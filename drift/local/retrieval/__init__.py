"""Search for whole documents."""
