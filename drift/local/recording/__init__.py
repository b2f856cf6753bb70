"""One request whole in a file, and the same request once more without any server."""
