"""Chunks with vectors that another program has made: read, checked, and loaded into a project."""
