"""Questions about places of documents: whether the chunk asked for is shown."""
