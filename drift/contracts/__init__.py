"""Every shape that crosses the process border: HTTP, progress, and the model's replies."""
