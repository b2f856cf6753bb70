"""Pure: the value of PROJECT_KEYS, and the caller that a key belongs to.

It holds hashes. A key has 256 random bits, so that its SHA-256 needs no salt.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json

from drift.auth.caller import Caller, Grant, Quota, Right, pattern_problem
from drift.contracts.filter import Filter
from drift.core.errors import UnauthenticatedError

MAX_BYTES = 25_000  # what a secret of Azure Key Vault holds
MAX_PROBLEMS = 10
NO_ENTRY = "must be a list with at least one key, and holds none"


class KeysError(ValueError):
    """The value cannot be used; `problems` name places of it, and repeat nothing of it."""

    def __init__(self, problems: Sequence[str]) -> None:
        """Keep every problem."""
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


class NoKeysError(KeysError):
    """There is no value, or none with a key in it: no key is valid any more."""


def _pattern(value: str) -> str:
    if problem := pattern_problem(value):
        raise ValueError(problem)
    return value


def _name(value: str) -> str:
    if not value.isprintable() or value != value.strip():
        raise ValueError("must be printable, without spaces around it")
    return value


class _Key(BaseModel):
    name: Annotated[str, StringConstraints(min_length=1, max_length=64), AfterValidator(_name)]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    projects: Annotated[
        list[Annotated[str, AfterValidator(_pattern)]], Field(min_length=1, max_length=100)
    ]
    rights: list[Right] = Field(default=["read"], min_length=1, max_length=2)
    filter: Filter | None = None

    @model_validator(mode="after")
    def _only_reads(self) -> Self:
        if self.filter and "write" in self.rights:
            raise ValueError("with a filter a key may only read: nobody writes unseen")
        return self


class KeyEntry(Quota, _Key):
    """One key: its name for logs and quotas, the hash of it, what it opens, and its quota."""

    def caller(self) -> Caller:
        """Return who comes with this key."""
        rights = frozenset(self.rights)
        return Caller(
            self.name,
            tuple(Grant(pattern, rights, self.filter) for pattern in self.projects),
            Quota(**self.model_dump(include=set(Quota.model_fields))),
        )


_ENTRIES: TypeAdapter[list[KeyEntry]] = TypeAdapter(list[KeyEntry])


@dataclass(frozen=True, slots=True)
class ProjectKeys:
    """Every key that is valid, by its hash."""

    entries: tuple[KeyEntry, ...]

    def caller(self, key: bytes) -> Caller:
        """Return who comes with a key, or raise UnauthenticatedError.

        It is compared with every entry, so that a wrong key takes as long as a right one.
        """
        shown = hash_of(key).encode()
        found = None
        for entry in self.entries:
            if hmac.compare_digest(entry.sha256.encode(), shown):
                found = entry

        if found is None:
            raise UnauthenticatedError("This key is not known.", "unknown key")
        return found.caller()


def hash_of(key: bytes) -> str:
    """Return what PROJECT_KEYS holds of a key: its SHA-256, in hex."""
    return hashlib.sha256(key).hexdigest()


def parse(value: str) -> ProjectKeys:
    """Return the keys in a value of PROJECT_KEYS.

    Raises:
        NoKeysError: it is an empty list, or as empty as one.
        KeysError: it is too long, no JSON, no list of entries, or holds a field or a hash twice.
    """
    if len(value.encode(errors="replace")) > MAX_BYTES:
        raise KeysError([f"is longer than {MAX_BYTES} bytes, which is what a secret may hold"])

    try:
        read = from_json(value, allow_inf_nan=False)
    except ValueError:
        raise KeysError(["is not valid JSON"]) from None

    if read in ([], {}, None):
        raise NoKeysError([NO_ENTRY])
    if not isinstance(read, list):
        raise KeysError(["must be a list with at least one key"])
    if repeated := list(_repeated_fields(value)):
        raise KeysError(repeated[:MAX_PROBLEMS])

    try:
        entries = _ENTRIES.validate_python(read)
    except ValidationError as error:
        raise KeysError(tuple(dict.fromkeys(_problems(error)))[:MAX_PROBLEMS]) from None

    counts = Counter(entry.sha256 for entry in entries)
    twice = [str(number) for number, entry in enumerate(entries, 1) if counts[entry.sha256] > 1]
    if twice:
        raise KeysError([f"entries {', '.join(twice)} have the same sha256"])
    return ProjectKeys(tuple(entries))


def _repeated_fields(value: str) -> Iterator[str]:
    """Name the fields that stand twice: who reads the list may have seen the other value."""

    def repeated(pairs: list[tuple[str, object]]) -> list[str]:
        counts = Counter(name for name, _ in pairs)
        return [name for name in KeyEntry.model_fields if counts[name] > 1]

    # As a float, because an int of thousands of digits would be refused.
    read = json.loads(value, object_pairs_hook=repeated, parse_int=float)
    for number, names in enumerate(read, 1):
        if isinstance(names, list):
            fields = (name for name in KeyEntry.model_fields if name in names)
            yield from (f"entry {number}, {name}: stands there twice" for name in fields)


def _problems(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        entry, *path = problem["loc"]
        place = f"entry {int(entry) + 1}"
        if problem["type"] == "extra_forbidden":
            known = ", ".join(KeyEntry.model_fields)
            yield f"{place} has a field that is none of {known}"
        elif path:
            yield f"{place}, {path[0]}: {_wanted(problem)}"
        elif problem["type"] == "value_error":
            yield f"{place}, {_said(problem)}"
        else:
            yield f"{place} must be an object"


def _wanted(problem: Any) -> str:  # noqa: ANN401 - pydantic's error dictionary
    if problem["loc"][1] == "sha256" and problem["type"] != "missing":
        return "must be the SHA-256 of the key, as 64 small hexadecimal digits"
    return _said(problem)


def _said(problem: Any) -> str:  # noqa: ANN401 - the same
    return str(problem["msg"]).removeprefix("Value error, ").lower()
