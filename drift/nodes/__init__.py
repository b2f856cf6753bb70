"""A question answered from the nodes nearest to it, cited by their numbers."""
