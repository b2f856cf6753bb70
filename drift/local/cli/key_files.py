"""Keys for callers, and the files that their entries are kept in."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from drift.auth.project_keys import MAX_BYTES, KeyEntry, KeysError, hash_of, parse
from drift.core.errors import LocalStackError

PREFIX = "drift_"
"""What every key begins with, so that people and scanners for secrets know it when they see it."""

Entry = Mapping[str, Any]


def new_entry(
    key: str,
    name: str,
    projects: Sequence[str],
    rights: Sequence[str] = ("read",),
    only: Mapping[str, Any] | None = None,
    **quota: int | None,
) -> Entry:
    """Return the entry of a key; a filter or quota that is not asked for is left out."""
    entry = {
        "name": name,
        "sha256": hash_of(key.encode()),
        "projects": projects,
        "rights": rights,
        "filter": only,
        **quota,
    }
    return {field: value for field, value in entry.items() if value is not None}


def new_key() -> str:
    """Return a key of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def value_of(entries: Sequence[Entry]) -> str:
    """Return a value of PROJECT_KEYS, with an entry a line."""
    return "[\n" + ",\n".join(f"  {json.dumps(dict(entry))}" for entry in entries) + "\n]\n"


def problems(entry: Entry) -> tuple[str, ...]:
    """Return what is wrong with an entry that is asked for; nothing when it can be used."""
    try:
        parse(value_of([entry]))
    except KeysError as error:
        return tuple(problem.removeprefix("entry 1, ") for problem in error.problems)
    return ()


def entries_of(file: Path) -> tuple[KeyEntry, ...]:
    """Return what a file holds.

    Raises:
        LocalStackError: the file cannot be read, or used as PROJECT_KEYS.
    """
    return _parsed(text_of(file), str(file))


def add(entry: Entry, file: Path) -> tuple[KeyEntry, ...]:
    """Add an entry to the list in a file, which is made when it is absent; return what it holds.

    A reader sees the list as it was or as it is now, whole.

    Raises:
        LocalStackError: the file cannot be read, used or written; it is as it was.
    """
    place = Path(os.path.realpath(file))  # a link stays, and what it leads to is replaced
    with _alone_in(place.parent):
        entries = [*_entries(file), entry] if _is_there(place, file) else [entry]
        value = value_of(entries)
        held = _parsed(value, f"{file} with this key in it")
        try:
            _replace(place, value)
        except OSError as error:
            raise LocalStackError(f"{file} cannot be written: {error.strerror}.") from error

    return held


def differs(held: Sequence[KeyEntry]) -> bool:
    """Tell whether the last entry opens or may use something else than the others of its name."""

    def gives(one: KeyEntry) -> object:
        caller = one.caller()
        return frozenset(caller.grants), caller.quota

    return any(one.name == held[-1].name and gives(one) != gives(held[-1]) for one in held)


def _entries(file: Path) -> list[Entry]:
    """Return the entries of a file as they stand there; a list without any is fine as well."""
    text = text_of(file)
    with contextlib.suppress(ValueError):
        if len(text.encode()) <= MAX_BYTES and from_json(text) == []:
            return []

    _parsed(text, str(file))
    entries: list[Entry] = from_json(text)
    return entries


def _parsed(text: str, what: str) -> tuple[KeyEntry, ...]:
    try:
        return parse(text).entries
    except KeysError as error:
        raise LocalStackError(f"{what}: {error}.") from None


def text_of(file: Path) -> str:
    """Return a file's text, with no more of it than tells that it is too long.

    Raises:
        LocalStackError: the file cannot be read.
    """
    try:
        with file.open("rb") as opened:
            read = opened.read(MAX_BYTES + 1)
        # a character that is cut in two is no fault of a text that is too long anyway
        return read.decode(errors="replace" if len(read) > MAX_BYTES else "strict")
    except OSError as error:
        raise LocalStackError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise LocalStackError(f"{file} cannot be read: it is not valid UTF-8.") from None


def _is_there(place: Path, file: Path) -> bool:
    """Tell whether there is a file to add to.

    Raises:
        LocalStackError: what is there is no file, and must not be replaced by one.
    """
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return False
    except OSError as error:
        raise LocalStackError(f"{file} cannot be read: {error.strerror}.") from error

    if not stat.S_ISREG(mode):
        raise LocalStackError(f"{file} cannot be added to: it is no file.")
    return True


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other runs from adding to files of the folder, where its file system has locks."""
    with contextlib.ExitStack() as ends:
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            ends.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _replace(place: Path, value: str) -> None:
    """Put a draft in the file's place with the file's mode, 0600 where there is none."""
    handle, draft = tempfile.mkstemp(prefix=f".{place.name[:100]}-", dir=place.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(handle, stat.S_IMODE(place.stat().st_mode))
            opened.write(value)
            opened.flush()
            os.fsync(handle)
        Path(draft).replace(place)
    finally:
        Path(draft).unlink(missing_ok=True)
