"""What `drift keys` does: keys are made, and their entries kept in a file."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from drift.auth.project_keys import MAX_BYTES, KeyEntry, KeysError, hash_of, parse
from drift.core.errors import LocalStackError
from drift.local.cli.console import print_json, say, stdout

PREFIX = "drift_"
"""What every key begins with, so that people and scanners for secrets know it when they see it."""

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A key as it was asked for; patterns and rights are lists with commas."""

    name: str
    projects: str
    rights: str = "read"
    quota: Mapping[str, int | None] = field(default_factory=dict)

    def entry(self, key: str) -> Entry:
        """Return the entry of this key; a quota that was not asked for is left out."""
        entry = {
            "name": self.name,
            "sha256": hash_of(key.encode()),
            "projects": _parts(self.projects),
            "rights": _parts(self.rights),
            **self.quota,
        }
        return {field: value for field, value in entry.items() if value is not None}


def new_key() -> str:
    """Return a key of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def value_of(entries: Sequence[Entry]) -> str:
    """Return a value of PROJECT_KEYS, with an entry a line."""
    return "[\n" + ",\n".join(f"  {json.dumps(dict(entry))}" for entry in entries) + "\n]\n"


def problems(wanted: Wanted) -> tuple[str, ...]:
    """Return what is wrong with a key that is asked for; nothing when it can be made."""
    try:
        parse(value_of([wanted.entry("")]))
    except KeysError as error:
        return tuple(problem.removeprefix("entry 1, ") for problem in error.problems)
    return ()


async def new(wanted: Wanted, file: Path | None, *, as_json: bool) -> None:
    """Make a key and print it with its entry, which is added to the file first if there is one.

    Raises:
        LocalStackError: the file cannot be used or written; it is as it was, and no key was shown.
    """
    key = new_key()
    entry = wanted.entry(key)
    held = add(entry, file) if file else ()
    if as_json:
        print_json({"key": key, "entry": entry})
    else:
        print(key, flush=True)  # noqa: T201 - the command's output
        print_json(entry)

    say("This key is shown once: give it to its callers now. The entry holds its hash alone.")
    if held:
        say(
            f"{file} holds {len(held)} key{'' if len(held) == 1 else 's'}. Its content is the "
            "value of PROJECT_KEYS, or of the secret which PROJECT_KEYS_SECRET names: put it there."
        )
    else:
        say(
            "Put the entry into the list of PROJECT_KEYS, or into that of the secret which "
            "PROJECT_KEYS_SECRET names."
        )

    if _differs(held):
        say("An older key of this name has other projects, rights or quotas than this one.")

    say(
        "To change a key without a gap, add a new one of the same name, move its callers, and take "
        "the old entry out."
    )


async def check(file: Path, *, as_json: bool) -> None:
    """Print how many keys a file holds, and of how many names and patterns of projects.

    Raises:
        LocalStackError: the file cannot be read, or used as PROJECT_KEYS.
    """
    text = _read(file)
    try:
        entries = parse(text).entries
    except KeysError as error:
        raise LocalStackError(f"{file}: {error}.") from None

    counts = {
        "keys": len(entries),
        "names": len({entry.name for entry in entries}),
        "projects": len({pattern for entry in entries for pattern in entry.projects}),
    }
    if as_json:
        print_json(counts)
        return
    for name, value in counts.items():
        stdout.print(f"{name:<18} {value}")


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
        try:
            held = parse(value).entries
        except KeysError as error:
            raise LocalStackError(f"{file} with this key in it: {error}.") from None

        try:
            _replace(place, value)
        except OSError as error:
            raise LocalStackError(f"{file} cannot be written: {error.strerror}.") from error

    return held


def _differs(held: Sequence[KeyEntry]) -> bool:
    """Tell whether the last entry opens or may use something else than the others of its name."""

    def gives(one: KeyEntry) -> object:
        caller = one.caller()
        return frozenset(caller.grants), caller.quota

    return any(one.name == held[-1].name and gives(one) != gives(held[-1]) for one in held)


def _parts(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",")))


def _entries(file: Path) -> list[Entry]:
    """Return the entries of a file as they stand there; a list without any is fine as well."""
    text = _read(file)
    with contextlib.suppress(ValueError):
        if len(text.encode()) <= MAX_BYTES and from_json(text) == []:
            return []

    try:
        parse(text)
    except KeysError as error:
        raise LocalStackError(f"{file}: {error}.") from None

    entries: list[Entry] = from_json(text)
    return entries


def _read(file: Path) -> str:
    """Return a file's text, with no more of it than tells that it is too long."""
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
