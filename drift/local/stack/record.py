"""The record that the keeper of local servers leaves in their data folder, for other commands."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from drift.core.errors import LocalStackError
from drift.local.stack.locks import is_unlocked
from drift.local.stack.loopback import answers

_NAME = "stack.json"


@dataclass(frozen=True, slots=True)
class Record:
    """The servers' ports, which stay when they have ended, and their settings and pids.

    `request` is what their keeper was asked for.
    """

    ports: dict[str, int] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    pids: dict[str, int] = field(default_factory=dict)
    request: dict[str, Any] = field(default_factory=dict)


def lock_of(folder: Path) -> Path:
    """Return the file whose lock the keeper, the servers and their guards hold.

    When it is free, nothing runs on the data folder. The kernel lets it go with them, so that no
    pid has to be believed.
    """
    return folder / "lock"


def users_of(folder: Path) -> Path:
    """Return the file whose lock all users of the servers share; they end when it is free."""
    return folder / "users"


def write_record(folder: Path, record: Record) -> None:
    """Write the record in one step, readable by its owner alone: it has the password.

    Raises:
        LocalStackError: it cannot be written.
    """
    path = folder / _NAME
    draft = path.with_suffix(".draft")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(asdict(record), file)
        draft.replace(path)
    except OSError as error:
        raise LocalStackError(
            f"The file {path} cannot be written ({error.strerror}): make room, or name another "
            f"data folder."
        ) from error


def read_record(folder: Path) -> Record:
    """Return the record that was left, whoever left it; an empty one where there is none."""
    try:
        kept = json.loads((folder / _NAME).read_text())
        if version := kept.pop("neo4j_version", ""):  # a release before had no request
            kept["request"] = {"version": version}
        return Record(**kept)
    except (OSError, ValueError, TypeError, AttributeError):
        return Record()


def running_record(folder: Path) -> Record | None:
    """Return the record of servers that run on this folder now; None where none do.

    Raises:
        LocalStackError: the folder's lock cannot be read.
    """
    if is_unlocked(lock_of(folder)):
        return None

    record = read_record(folder)
    # a new keeper may not have replaced yet what a killed one left
    runs = record.pids and all(answers(record.ports[one]) for one in record.pids)
    return record if runs else None
