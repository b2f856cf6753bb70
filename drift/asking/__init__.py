"""What is asked next: the pool of proposals, what they promise, and what repeats."""
