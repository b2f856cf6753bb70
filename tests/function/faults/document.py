"""docs/faults.md, made from the table.

`python -m tests.function.faults.document > docs/faults.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby

from tests.function.faults.of_model import LOST
from tests.function.faults.row import ATTEMPTS, CUT_SHORT, FOLLOWUPS, LOST_ONE, Row
from tests.function.faults.said import part_of_document
from tests.function.faults.table import ROWS

HEAD = """# Faults

{number} lines, each of them made to happen to a running service and checked: the function's own
route over HTTP, a real Neo4j and a real Valkey (behind a TCP proxy where the network is what
fails), and the local model server, which fails as it is told. This page and the tests are made from
one table, `tests/function/faults/`: `make faults` writes the page, and `pytest
tests/function/test_fault_table.py` makes every line of it happen.

**No fault of one follow-up loses the request.** It costs that follow-up and is said in
`residual_uncertainty`; only when none of them is answered does the request fail, with the code of
what made them fail. Redis never costs an answer.

- *the caller gets*: an answer, or an error's status and `code`. "says so" means that
  `residual_uncertainty` tells what is missing. Where nothing else is said, the answer has checked
  citations.
- *log*: the lines of level warning and error, by event ([observability](observability.md)), with
  what their `cause` begins with or holds; lines about single citations are left out.
- *requests*: how many requests of that call reach the server, with RETRY_MAX_ATTEMPTS={attempts} (2
  where the server never answers). One more than without the fault is a repetition, or a reply that
  was asked for again. Requests of other follow-ups are not counted in "one follow-up".
- *reference*: what DRIFT search of Microsoft GraphRAG 3.3.0 did with the like fault, one run each,
  retries not configured unless said. Of {known} faults known there it lost the request in {lost},
  and answered some of the others without saying what was missing; this service fails in {lost_here}
  of them, where nothing checked is left to answer from or a server refuses for ever.

"any" call is the first that meets the fault. Follow-ups run at the same time: {followups} in the
first pass here. Nothing comes from a cache (`CACHE=off`).
"""
TITLES = {
    "model": "Model",
    "embeddings": "Embeddings",
    "graph": "Graph",
    "redis": "Redis",
    "identity": "Identity (no OAI_KEY: the model server is called with a token of Entra ID)",
    "host": "Host and caller",
}
TAIL = """
## Elsewhere

Servers that are killed in the middle of a request and come back, with their own processes:
`tests/function/test_servers_that_die.py`. Idle connections that the network has dropped:
`test_dropped_connections.py`. Time limits and Retry-After in its three forms: `test_deadlines.py`.
Errors of Neo4j code by code, statements that are too slow among them:
`tests/contract/test_graph_outage.py`. A cache that Redis does not give, or gives wrongly:
`tests/wire/test_redis_embedding_cache.py`.
"""


def document(rows: Sequence[Row]) -> str:
    """Return the document."""
    known = [row for row in rows if row.reference]
    lost = [row for row in known if row.reference.startswith(LOST)]
    head = HEAD.format(
        number=len(rows),
        attempts=ATTEMPTS,
        known=len(known),
        lost=len(lost),
        lost_here=sum(bool(row.code) for row in known),
        followups=FOLLOWUPS,
    )
    parts = [_part(part, list(group)) for part, group in groupby(rows, lambda row: row.part)]
    return "\n".join([head, *parts]) + part_of_document() + TAIL


def _part(part: str, rows: list[Row]) -> str:
    """Return a part's heading and table; a column that is empty throughout is left out."""
    columns = ["call", "fault", "the caller gets", "log", "requests", "reference"]
    cells = [_cells(row) for row in rows]
    used = [place for place, _ in enumerate(columns) if any(line[place] for line in cells)]
    lines = [[columns[place] for place in used], ["---"] * len(used)]
    lines += [[line[place] for place in used] for line in cells]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"## {TITLES[part]}\n\n{table}\n"


def _cells(row: Row) -> list[str]:
    events = ", ".join(
        f"`{event}`" + (f" x{number}" if number > 1 else "") for event, number in row.logged.items()
    )
    log = f"{events}; `{row.cause}`" if row.cause and events else events
    return [
        row.call,
        row.fault,
        _outcome(row),
        log,
        "" if row.sent is None else str(row.sent),
        row.reference,
    ]


def _outcome(row: Row) -> str:
    """Say what the caller gets."""
    if row.code:
        return f"{row.status} `{row.code}`" + (f": {row.detail}" if row.detail else "")
    if not row.status:
        return "nothing: nobody is there"
    missing = {LOST_ONE: ", says so", CUT_SHORT: ", says that time ran out"}.get(row.says, "")
    return (
        f"answer{missing}"
        if row.cited
        else "answer without checked citations" + (", says so" if row.says else "")
    )


if __name__ == "__main__":
    sys.stdout.write(document(ROWS))
