"""The answer: what was found as facts, what of the last reply is delivered, and its verdict."""
