"""Pure: a prompt from what was found to its tokens."""
