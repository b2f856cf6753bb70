"""The graph's two statements at scale, beside those of other designs."""
