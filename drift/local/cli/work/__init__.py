"""What the commands do. It loads when a command runs, and `--help` does without it."""
