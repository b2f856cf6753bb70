"""Fetch APOC, which most of the tools want of the server: `python -m tests.foreign.plugins DIR`.

The newest that Maven Central has is of an older patch than the server; the first two numbers count.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from jgo.maven import MavenContext, PythonResolver

VERSION = "5.26.19"


def main(folder: Path) -> None:
    """Put the jars into a folder of plugins."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        context = MavenContext(resolver=PythonResolver(), repo_cache=Path(cache))
        for name in ("apoc-core", "apoc-common"):
            wanted = context.create_dependency(f"org.neo4j.procedure:{name}:{VERSION}")
            shutil.copy(wanted.artifact.resolve(), folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
