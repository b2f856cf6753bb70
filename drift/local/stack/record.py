"""What a running stack leaves in its data folder: `stack.json`, and the ports for next time."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.local.stack.order import Places


@dataclass(frozen=True, slots=True)
class Record:
    """The servers' settings, pids and ports, by part; or, in `failure`, why there are none."""

    env: dict[str, str]
    pids: dict[str, int]
    ports: dict[str, int]
    neo4j_version: str
    failure: str = ""


def write_record(folder: Path, record: Record) -> None:
    """Write the note in one step, readable by its owner alone: it has the password."""
    _write(folder / "stack.json", asdict(record))


def read_record(folder: Path) -> Record | None:
    """Return the note, whoever left it: only the locks beside it tell whether it still holds."""
    try:
        return Record(**json.loads((folder / "stack.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def running_record(folder: Path) -> Record | None:
    """Return the note of a stack that runs on this folder now; None where none does.

    Raises:
        LocalStackError: the folder's lock cannot be read.
    """
    record = None if Places(folder).process.is_free() else read_record(folder)
    return record if record and not record.failure else None


def remove_record(folder: Path) -> None:
    """Remove the note, as far as that is possible."""
    with contextlib.suppress(OSError):
        (folder / "stack.json").unlink(missing_ok=True)


def write_ports(folder: Path, ports: Mapping[str, int]) -> None:
    """Remember where the servers were, so that they are there again next time."""
    _write(folder / "ports.json", {**read_ports(folder), **ports})


def read_ports(folder: Path) -> dict[str, int]:
    """Return where the servers were last time."""
    try:
        known = json.loads((folder / "ports.json").read_text())
        return {str(name): int(port) for name, port in known.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(path: Path, document: object) -> None:
    draft = path.with_suffix(".draft")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(document, file)
        draft.replace(path)
    except OSError as error:
        raise LocalStackError(
            f"The file {path} cannot be written ({error.strerror}): make room, or name another "
            f"data folder."
        ) from error
