"""Write which jars the versions of Neo4j that are tried consist of, by SHA-256: `make jars`.

A new version is taken as Maven Central has it on that day, and as it is from then on.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from jgo.maven import MavenContext

from drift.local.stack.neo4j import jars


def main() -> None:
    """Write a file for each version beside the code that reads it, in the place of all others."""
    folder = Path(jars.__file__).parent
    lists = {version: _listed(version) for version in set(jars.ALIASES.values())}
    for file in folder.glob("*.sha256"):
        file.unlink()
    for version, listed in lists.items():
        (folder / f"neo4j-{version}.sha256").write_text(listed)


def _listed(version: str) -> str:
    """Return the digest and the path of each jar, in the order of the class path."""
    with tempfile.TemporaryDirectory() as place:
        repository = Path(place)
        context = MavenContext(repo_cache=repository, remote_repos={"central": jars.CENTRAL})
        server = context.create_dependency(f"org.neo4j:neo4j:{version}")
        inputs, transitive = context.resolver.resolve([server])
        files = [Path(one.artifact.resolve()) for one in (*inputs, *transitive)]
        return "".join(
            f"{hashlib.sha256(file.read_bytes()).hexdigest()}  "
            f"{file.relative_to(repository).as_posix()}\n"
            for file in files
        )


if __name__ == "__main__":
    main()
