"""Write which jars the versions of Neo4j that are tried consist of, by SHA-256: `make jars`.

A new version is taken as Maven Central has it on that day, and as it is from then on.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from unittest import mock

from drift.local.stack.neo4j import maven
from drift.local.stack.neo4j.jars import ALIASES, default_cache, ensure_jars


def main() -> None:
    """Write a file for each version beside the code that reads it, in the place of all others."""
    folder, repository = Path(maven.__file__).parent, default_cache() / "repository"
    for file in folder.glob("*.sha256"):
        file.unlink()
    for version in sorted(set(ALIASES.values())):
        with mock.patch.object(maven, "locked_jars", return_value={}):
            jars = ensure_jars(version, default_cache())
        lines = (
            f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  "
            f"{jar.relative_to(repository).as_posix()}\n"
            for jar in jars
        )
        (folder / f"neo4j-{version}.sha256").write_text("".join(lines))


if __name__ == "__main__":
    main()
