"""The bound of a prompt's tokens, beside a tokenizer."""
