"""The ways to deploy: a parameter file each, and what the deployment engine makes of it.

Two snapshots are committed, so that a change shows what it would deploy; the others are worked out
where a compiler is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ALWAYS_SET = {"NEO4J_PASSWORD": "canary-password", "PROJECT_KEYS": "[]"}
"""What the ways to deploy read from the environment; the engine shows no secure value, so it is in
no snapshot."""

COMMITTED = ("default", "every-parameter")
"""The ways whose snapshots are committed."""

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

    def credential(self, setting: str) -> str:
        """Return the resource id of a secret of people's own; empty where there is none."""
        return str(self["credentialIds"].get(setting, ""))


@dataclass(frozen=True)
class Project:
    """A folder with the files of this project, and what the compiler made of them.

    `template` is what is sent to Azure; rules over files need neither it nor the ways.
    """

    root: Path = ROOT
    ways: list[Way] = field(default_factory=list)
    template: Body | None = None

    def text(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_text(encoding="utf-8")


Rule = Callable[[Project], Iterator[str]]


def way_files(root: Path = ROOT) -> list[Path]:
    """Return the parameter files of all ways, those that are only for tests last.

    In `every-parameter` no two parameters have the same value, so that no two can be taken for each
    other; the others give what no way of people gives together.
    """
    return [*ways_of_people(root), *sorted((root / "tests/infra").glob("*.bicepparam"))]


def ways_of_people(root: Path = ROOT) -> list[Path]:
    """Return the parameter files of the ways to deploy, for people to copy."""
    return sorted((root / "infra/ways").glob("*.bicepparam"))


def snapshot_of(file: Path) -> Path:
    """Return the path of the snapshot beside a parameter file, where it is committed."""
    return file.with_suffix(".snapshot.json")


def committed_snapshots() -> dict[str, Body]:
    """Return the snapshots that are committed, by the name of their way."""
    files = {file.stem: snapshot_of(file) for file in way_files() if file.stem in COMMITTED}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items()}
