"""Notebooks: their texts, their code, and what it printed."""

from __future__ import annotations

import json
from typing import Any

from drift.local.ingest.formats import DamagedError, NoDocumentError, Read
from drift.local.ingest.formats.escaping import fenced

MOST_OUTPUT_CHARACTERS = 2_000
"""Of one cell."""


def read_notebook(content: bytes) -> Read:
    """Return the cells of a notebook in their order; pictures are left out."""
    try:
        book = json.loads(content)
        cells = book["cells"]
        language = str(book.get("metadata", {}).get("language_info", {}).get("name", ""))
        parts = [part for one in cells for part in _of_cell(one, language)]
        title = str(book.get("metadata", {}).get("title", ""))
    except ValueError as error:
        raise DamagedError(f"is damaged, or no notebook ({error})") from error
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NoDocumentError(
            f"is no notebook of format 4 ({type(error).__name__}): save it by a newer Jupyter"
        ) from error

    cut = sum(part.rstrip("`").endswith(_CUT) for part in parts)
    note = f"of {cut:,} outputs only the first {MOST_OUTPUT_CHARACTERS:,} characters are read"
    return Read("\n\n".join(filter(str.strip, parts)), title, note=note if cut else "")


_CUT = "\u2026\n"


def _of_cell(cell: Any, language: str) -> list[str]:  # noqa: ANN401 - JSON
    source = _joined(cell["source"])
    if cell["cell_type"] != "code":
        return [source]

    output = "\n".join(filter(None, map(_printed, cell.get("outputs", ()))))
    if len(output) > MOST_OUTPUT_CHARACTERS:
        output = f"{output[:MOST_OUTPUT_CHARACTERS]}\u2026"
    code = [fenced(source, language)] if source.strip() else []
    return [*code, fenced(output)] if output.strip() else code


def _printed(output: Any) -> str:  # noqa: ANN401 - JSON
    said = output.get("text") or output.get("data", {}).get("text/plain") or ""
    if output.get("output_type") == "error":
        said = f"{output.get('ename', '')}: {output.get('evalue', '')}"
    return _joined(said).rstrip()


def _joined(said: str | list[str]) -> str:
    return said if isinstance(said, str) else "".join(said)
