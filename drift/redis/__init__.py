"""Progress over Redis pub/sub."""
