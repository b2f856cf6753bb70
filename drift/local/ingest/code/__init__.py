"""Source code: its definitions, and the chunks that follow them."""
