"""The compiler of the tests of infra/.

One process for all of them, and one line where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from drift.local.infra.bicep_compiler import find_compiler
from tests.infra.compiler import NOT_CHECKED, Compiler, started
from tests.remarks import remark

EXECUTABLE = find_compiler()

# without a compiler these have nothing to ask; the line below says so
collect_ignore = (
    [] if EXECUTABLE else ["test_compiled.py", "test_refused.py", "test_planted_faults.py"]
)


@pytest.fixture(scope="session")
def compiler() -> Iterator[Compiler]:
    assert EXECUTABLE
    with started(EXECUTABLE) as running:
        yield running


def pytest_configure(config: pytest.Config) -> None:
    if not EXECUTABLE:
        remark(config, NOT_CHECKED)
