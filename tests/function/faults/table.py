"""The fault table: every row is a test, and a line of docs/faults.md."""

from __future__ import annotations

from tests.function.faults import of_embeddings, of_followups, of_model, of_servers
from tests.function.faults.row import Row

ROWS: tuple[Row, ...] = (
    *of_model.SOCKET,
    *of_model.LADDER,
    *of_model.HYPOTHESIS,
    *of_model.PRIMER,
    *of_followups.ROWS,
    *of_model.AGGREGATION,
    *of_embeddings.ROWS,
    *of_servers.ROWS,
)
