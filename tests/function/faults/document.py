"""docs/faults.md, made from the table.

`python -m tests.function.faults.document > docs/faults.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby, pairwise

from tests.function.faults.of_model import LOST
from tests.function.faults.row import ATTEMPTS, CUT_SHORT, FOLLOWUPS, LOST_ONE, Row
from tests.function.faults.said import part_of_document
from tests.function.faults.table import ROWS

HEAD = """# Faults

{number} faults, each made to happen to a running service: the function's own route over HTTP, a
real Neo4j and Valkey (behind a TCP proxy where the network fails), and the local model server.
This page and its tests come from one table, `tests/function/faults/`: `make faults` writes the
page, and `tests/function/test_fault_table.py` makes every line happen.

**No fault of one follow-up loses the request.** It costs that follow-up, and
`residual_uncertainty` says so. The request fails only when no follow-up is answered, with the
code of what made them fail. Redis never costs an answer.

- *call*: "any" is the first that meets the fault; an empty cell is the call above. {followups}
  follow-ups run at the same time, and nothing comes from a cache (`CACHE=off`).
- *the caller gets*: an answer with checked citations, or an error's `code`, with its
  status where it is not 500. "says so" means that `residual_uncertainty` tells what is missing.
- *log*: the warnings by event ([observability](observability.md)), with what `cause` holds;
  each error has `request_failed` besides. A call is tried {attempts} times (RETRY_MAX_ATTEMPTS).

DRIFT search of Microsoft GraphRAG 3.3.0 was given {known} of these faults, one run each. It
lost the request in {lost}, and answered some of the others without saying what was missing.
This service fails in {lost_here} of them, where nothing checked is left to answer from or a
server refuses for ever.
"""
TITLES = {
    "model": "Model",
    "embeddings": "Embeddings",
    "graph": "Graph",
    "redis": "Redis",
    "identity": "Identity (no OAI_KEY: the model server is called with a token of Entra ID)",
    "host": "Host and caller",
}


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
    return "\n".join([head, *parts]) + part_of_document()


def _part(part: str, rows: list[Row]) -> str:
    """Return a part's heading and table; a column that is empty throughout is left out."""
    columns = ["call", "fault", "the caller gets", "log"]
    cells = [_cells(row) for row in rows]
    for above, below in reversed([*pairwise(cells)]):
        if below[0] == above[0]:
            below[0] = ""

    used = [place for place, _ in enumerate(columns) if any(line[place] for line in cells)]
    lines = [[columns[place] for place in used], ["---"] * len(used)]
    lines += [[line[place] for place in used] for line in cells]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"## {TITLES[part]}\n\n{table}\n"


def _cells(row: Row) -> list[str]:
    events = ", ".join(
        f"`{event}`" + (f" x{number}" if number > 1 else "") for event, number in row.warns.items()
    )
    log = "; ".join(filter(None, [events, f"`{row.cause}`" if row.cause else ""]))
    return [row.call, row.fault, _outcome(row), log]


def _outcome(row: Row) -> str:
    """Say what the caller gets."""
    if row.code:
        return f"`{row.code}`" + (f" ({row.status})" if row.status != 500 else "")
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
