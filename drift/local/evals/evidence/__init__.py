"""The evidence found in documents as people have them: ingested, searched, counted."""
