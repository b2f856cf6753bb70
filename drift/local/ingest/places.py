"""The places that sources are named after, and what stands there on this machine now."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from shlex import quote

from drift.core.errors import IngestError
from drift.graph.writing.records import IMPORTED, DocumentRecord
from drift.indexing.documents import ending_of
from drift.local.ingest.formats import OF_SEVERAL

REMOTE = "az://"
"""What the name of a source begins with that is no place of this machine."""


def below(source: str, path: str) -> str:
    """Return the file at a path below a source."""
    return source if path in {"", "."} else f"{source.rstrip('/')}/{path}"


def is_inside(file: str, folder: str) -> bool:
    """Tell whether a file is this place, or stands below it."""
    return file == folder or file.startswith(f"{folder.rstrip('/')}/")


def is_gone(file: str) -> bool:
    """Tell whether nothing is at a place of this machine; what cannot be looked at may be there.

    A source that is named after no place, or after one whose bytes are spelled out, is never gone.
    """
    if not file.startswith("/") or "\\x" in file:
        return False

    try:
        Path(file).stat()
    except FileNotFoundError:
        return True
    except NotADirectoryError:
        # What is in a file of mail may be there as long as that is.
        around = next(one for one in Path(file).parents if os.path.lexists(one))
        return ending_of(around.name) not in OF_SEVERAL
    except (OSError, ValueError):
        return False

    return False


def are_same(one: str, other: str) -> bool:
    """Tell whether two places are one: a link leads there, or the system ignores their case."""
    try:
        return one == other or (one.startswith("/") and Path(one).samefile(other))
    except (OSError, ValueError):
        return False


def known_as(place: str, names: Iterable[str]) -> str:
    """Return the name under which a place is known already; its own when it is not."""
    known = set(names)
    if place in known:
        return place
    return next((name for name in sorted(known) if are_same(name, place)), place)


def require_own_graph(project_id: str, documents: Iterable[DocumentRecord]) -> None:
    """Raise IngestError where some documents were imported with a graph, which would be lost."""
    if source := next((one.source for one in documents if one.source.startswith(IMPORTED)), ""):
        folder = quote(source.removeprefix(IMPORTED))
        raise IngestError(
            f"Project {project_id} holds the graph that GraphRAG made of {folder}, which topics of "
            f"ours would replace: nothing was changed. Use another project (--project), import it "
            f"anew (drift ingest --graphrag {folder}), or take it out first (drift remove)."
        )
