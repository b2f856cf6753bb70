"""`python -m tests.infra.write_snapshots`: what two ways would deploy, worked out by Azure's own
deployment engine.
"""

from __future__ import annotations

import json
import sys

from drift.local.infra.bicep_compiler import find_compiler
from tests.infra.compiler import NOT_CHECKED, started
from tests.infra.ways import COMMITTED, snapshot_of, way_files


def write() -> bool:
    """Write the snapshots that are committed, each beside its parameter file.

    Tell whether a compiler was there to do it.
    """
    executable = find_compiler()
    if executable is None:
        print(NOT_CHECKED, file=sys.stderr)  # noqa: T201 - a command
        return False
    with started(executable) as compiler:
        for file in (file for file in way_files() if file.stem in COMMITTED):
            text = json.dumps(compiler.snapshot(file), indent=2, ensure_ascii=False)
            snapshot_of(file).write_text(f"{text}\n", encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(not write())
