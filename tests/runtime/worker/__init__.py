"""The parts of the host around the real worker library."""
