"""Milvus as a second place for vectors; deployed only with the extra `milvus`."""
