"""Pure: which files of a source are earlier versions of another one, by their names and words.

`contract-v2` supersedes `contract-v1` beside it, and a document what it says that it `supersedes`.
A date makes a version only where a pattern says so: minutes have dates, and none is the newest.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from drift.local.ingest.code.languages import LANGUAGES

_MARK = re.compile(
    r"(?<=[^\W_])[-_. (]+(?:v|ver|version|rev|revision)[-_. ]?(\d{1,6}(?:\.\d{1,6}){0,3})\)?$",
    re.IGNORECASE,
)
_DATE = re.compile(r"[-_. (]*(?<!\d)((?:19|20)\d\d(?:([-_.]?)\d\d(?:\2\d\d)?)?)(?!\d)\)?")
_RELEASES = re.compile(r"(?i)(?:release|change|news?|note|upgrade|migration|whatsnew|log|api)s?$")
"""Ends of names of which each version tells something else."""


class Version(NamedTuple):
    """The number of a version among its `family`: a folder, and a name without the version."""

    family: tuple[str, str]
    number: tuple[int, ...]


def superseding(
    paths: Iterable[str], said: Mapping[str, str], dated: Iterable[str]
) -> dict[str, str]:
    """Return the newest version of each path that has a newer one.

    `said` is what documents say that they supersede, by path, with commas between several; `dated`
    are the paths of which a date tells the version.
    """
    every, with_dates = sorted(paths), {*dated}
    families: defaultdict[tuple[str, str], list[tuple[tuple[int, ...], str]]] = defaultdict(list)
    for path in every:
        if found := version_in(path, is_dated=path in with_dates):
            families[found.family].append((found.number, path))

    newer: dict[str, str] = {}
    for family in families.values():
        newest = max(family)
        newer |= {path: newest[1] for number, path in family if number < newest[0]}

    known = {name: path for path in reversed(every) for name in names_of(path)}
    for path, names in said.items():
        for places in named_in(path, names):
            older = next(filter(None, map(known.get, places)), path)
            if older != path:
                newer[older] = path
    return {path: end for path in newer if (end := _newest(path, newer)) != path}


def _newest(path: str, newer: Mapping[str, str]) -> str:
    """Return the end of a path's newer versions; the path itself where they go in a circle."""
    seen, at = {path}, path
    while at in newer:
        at = newer[at]
        if at in seen:
            return path
        seen.add(at)
    return at


def version_in(name: str, *, is_dated: bool) -> Version | None:
    """Return the version that a path tells, where it tells one."""
    path = PurePosixPath(name)
    if path.suffix in LANGUAGES:
        return None
    stem = path.name if path.suffix[1:].isdigit() else path.stem
    if is_dated and (date := _DATE.search(stem)):
        rest = f"{stem[: date.start()]}{stem[date.end() :]}".strip("-_. ")
        number = int(re.sub(r"\D", "", date[1]).ljust(8, "0"))
        return Version((str(path.parent), rest.casefold()), (number,))
    mark = _MARK.search(stem)
    if mark is None or _RELEASES.search(stem[: mark.start()]):
        return None
    family = str(path.parent), stem[: mark.start()].casefold()
    return Version(family, tuple(map(int, mark[1].split("."))))


def names_of(path: str) -> tuple[str, str]:
    """Return what others may call a path: without its ending, or as it is."""
    return path[: len(path) - len(PurePosixPath(path).suffix)], path


def named_in(path: str, names: str) -> list[tuple[str, str]]:
    """Return the paths, beside this one and of the whole, that each of the names may mean."""
    found = filter(None, map(str.strip, names.split(",")))
    return [(str(PurePosixPath(path).parent / name), name) for name in found]
