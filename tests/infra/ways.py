"""The ways to deploy: a parameter file each, and what the deployment engine makes of it.

Three snapshots are committed, so that a change shows what it would deploy; the others are worked
out where a compiler is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from drift.local.infra.bicep_parameters import declared_in, given_in

ROOT = Path(__file__).resolve().parents[2]
ALWAYS_SET = {"NEO4J_PASSWORD": "canary-password", "PROJECT_KEYS": "[]"}
"""What the ways to deploy read from the environment; the engine shows no secure value, so it is in
no snapshot."""

DECLARED = declared_in((ROOT / "infra/main.bicep").read_text(encoding="utf-8"))
"""The parameters of infra/main.bicep, with their defaults and bounds."""

DEFAULTS = {name: one.default for name, one in DECLARED.items()}

Body = dict[str, Any]
"""A resource as it stands in a snapshot."""


@dataclass(frozen=True)
class Way:
    """One way to deploy, with all its parameters and everything that it would create."""

    name: str
    parameters: Mapping[str, Any]
    snapshot: Mapping[str, Any]

    def __getitem__(self, parameter: str) -> Any:
        return self.parameters[parameter]

    def resources(self, *types: str) -> list[Body]:
        """Return what is created, of these types or of all."""
        return [
            one for one in self.snapshot["predictedResources"] if not types or one["type"] in types
        ]

    @property
    def private(self) -> bool:
        """Whether the stores cannot be reached from the internet."""
        return bool(self["vnetEnabled"])


@dataclass(frozen=True)
class Project:
    """A folder with the files of this project, and what the compiler made of them where one was
    asked.

    `snapshots` has the snapshots that the engine made just now, by the path of their parameter
    file; the others are read where they are committed. `template` is what is sent to Azure, None
    without a compiler.
    """

    root: Path = ROOT
    snapshots: Mapping[Path, Body] = field(default_factory=dict)
    template: Body | None = None

    @cached_property
    def ways(self) -> list[Way]:
        """All ways whose snapshot is there, those of people first."""
        return list(self._ways())

    def _ways(self) -> Iterator[Way]:
        for file in way_files(self.root):
            made, committed = self.snapshots.get(file.relative_to(self.root)), snapshot_of(file)
            if not made and not committed.exists():
                continue
            snapshot = made or json.loads(committed.read_text())
            yield way_of(file, snapshot)

    def text(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_text(encoding="utf-8")


def way_of(file: Path, snapshot: Body | None = None) -> Way:
    """Return the way of a parameter file, with what it would deploy where that is known."""
    given = given_in(file.read_text(), ALWAYS_SET)
    values = {**DEFAULTS, **{name: one.value for name, one in given.items()}}
    return Way(way_name(file), values, snapshot or {})


def way_files(root: Path = ROOT) -> list[Path]:
    """Return the parameter files of all ways, those that are only for tests last.

    In `every-parameter` no two parameters have the same value, so that no two can be taken for each
    other; the others give what no way of people gives together.
    """
    return [*ways_of_people(root), *sorted((root / "tests/infra").glob("*.bicepparam"))]


def ways_of_people(root: Path = ROOT) -> list[Path]:
    """Return the parameter files of the ways to deploy, for people to copy."""
    return sorted((root / "infra/ways").glob("*.bicepparam"))


def way_name(file: Path) -> str:
    """Return the name of a way: that of its file."""
    return file.stem


COMMITTED = ("default", "private", "every-parameter")
"""The ways whose snapshots are committed."""


def snapshot_of(file: Path) -> Path:
    """Return the path of the snapshot beside a parameter file, where it is committed."""
    return file.with_suffix(".snapshot.json")


def resources_in(snapshot: Path) -> list[Body]:
    """Return the resources of a committed snapshot."""
    return list(json.loads(snapshot.read_text(encoding="utf-8"))["predictedResources"])
