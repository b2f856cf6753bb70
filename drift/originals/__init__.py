"""The original files of documents: where they are kept, and under which names."""
