"""The compiler of the tests of infra/.

One process for all of them, and one line where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from drift.local.infra.bicep_compiler import find_compiler
from tests.infra.compiler import NOT_CHECKED, Compiler, started
from tests.infra.ways import ROOT, Project, way_files
from tests.remarks import remark

EXECUTABLE = find_compiler()

# without a compiler these have nothing to ask; the line below says so
_ASKS = ("compiled", "doctor", "planted_faults", "refused")
collect_ignore = [] if EXECUTABLE else [f"test_{name}.py" for name in _ASKS]


@pytest.fixture(scope="session")
def compiler() -> Iterator[Compiler]:
    assert EXECUTABLE
    with started(EXECUTABLE) as running:
        yield running


@pytest.fixture(scope="session")
def project(compiler: Compiler) -> Project:
    """The project with all ways and the template, of which the compiler has nothing to say."""
    ways = [compiler.way(file) for file in way_files()]
    return Project(ROOT, ways, compiler.compiled(ROOT / "infra/main.bicep"))


def pytest_configure(config: pytest.Config) -> None:
    if not EXECUTABLE:
        remark(config, NOT_CHECKED)
