"""How long a request may take that asks no question; a question has DEADLINE_SEC."""

from __future__ import annotations

READING_S = 30.0
"""A read of the graph, also the one that finds the only project of a request that names none."""
NODE_S = 60.0
"""A write of one node, with its vector."""
DOCUMENT_S = 100.0
"""A write of one document, with the vectors of its chunks, beside what reading it may take."""
