"""Reads requirements.lock, and what the packages in it say they need.

Which of it is missing, superfluous or unhashed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
REQUIREMENTS = ROOT / "requirements.txt"
PLATFORM = {
    "python_version": "3.13",
    "python_full_version": "3.13.0",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
}
"""What the lock is for: every marker is read as if this were it."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """One package of the lock: its exact version, its files' hashes, and who asks for it.

    `""` is requirements.txt.
    """

    version: str
    hashes: tuple[str, ...]
    wanted_by: tuple[str, ...]


def locked(text: str = "") -> dict[str, Pinned]:
    """Return the packages of the lock, or of a text like it, by their normalised names."""
    found = {}
    for entry in re.split(r"\n(?=\S)", text or LOCK.read_text(encoding="utf-8")):
        if not entry.startswith("#"):
            name, version = entry.split()[0].split("==")
            wanted_by = re.findall(
                r"^ +# +(?:via +)?([\w.-]+(?: requirements\.txt)?)$", entry, re.MULTILINE
            )
            found[canonicalize_name(name)] = Pinned(
                version,
                tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", entry)),
                tuple(
                    "" if one == "-r requirements.txt" else one for one in wanted_by if one != "via"
                ),
            )
    return found


def direct() -> list[Requirement]:
    """Return the requirements of requirements.txt that hold on the lock's platform."""
    lines = (
        line.split(" #")[0].strip()
        for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    )
    return list(holding([line for line in lines if line and not line.startswith("#")], ""))


def holding(requirements: list[str], extra: str) -> Iterator[Requirement]:
    """Give the requirements that hold on the lock's platform, with this extra of the package."""
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate({**PLATFORM, "extra": extra}):
            yield requirement


def installed(paths: list[str] | None = None) -> dict[str, Distribution]:
    """Return the packages of this environment, or of these folders."""
    found = distributions() if paths is None else distributions(path=paths)
    return {canonicalize_name(one.name): one for one in found}


def needed(lock: dict[str, Pinned]) -> dict[str, list[Requirement]]:
    """Return, for each package that is installed in its locked version, what it needs.

    Extras as far as they are asked for.
    """
    present = installed()
    needs: dict[str, list[Requirement]] = {}
    done: set[tuple[str, str]] = set()
    waiting = direct()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in lock or name not in present or present[name].version != lock[name].version:
            continue
        for extra in {"", *requirement.extras}:
            if (name, extra) not in done:
                done.add((name, extra))
                asked = list(holding(present[name].requires or [], extra))
                needs.setdefault(name, []).extend(asked)
                waiting += asked
    return needs


def unmet(lock: dict[str, Pinned]) -> set[str]:
    """Return what requirements.txt and the locked packages require and the lock does not meet."""
    asked = [*direct(), *(one for requirements in needed(lock).values() for one in requirements)]
    return {str(one) for one in asked if not _meets(lock.get(canonicalize_name(one.name)), one)}


def _meets(pinned: Pinned | None, requirement: Requirement) -> bool:
    return pinned is not None and requirement.specifier.contains(pinned.version)


def unwanted(lock: dict[str, Pinned]) -> set[str]:
    """Return what is locked though nothing leads to it, or those said to want it do not."""
    reached = {""}
    while (
        new := {name for name, one in lock.items() if reached.intersection(one.wanted_by)} - reached
    ):
        reached |= new
    present = installed()
    asked = {name: set(map(_name, present[name].requires or [])) for name in needed(lock)}
    asked[""] = {canonicalize_name(one.name) for one in direct()}
    false = {
        name
        for name, one in lock.items()
        if not all(name in asked.get(by, {name}) for by in one.wanted_by)
    }
    return (set(lock) - reached) | false


def _name(requirement: str) -> str:
    return canonicalize_name(Requirement(requirement).name)
