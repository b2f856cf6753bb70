"""Every planted fault is found by the rule that it is planted for, also when the snapshots are made
anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.infra.compiler import Compiler
from tests.infra.faults.planted import FAULTS
from tests.infra.faults.planting import Fault, finding

pytestmark = [pytest.mark.deep, pytest.mark.slow, pytest.mark.timeout(180)]


EVERY = [Fault(file, *change) for file, changes in FAULTS.items() for change in changes]


@pytest.mark.parametrize("fault", EVERY, ids=str)
def test_a_planted_fault_is_found(fault: Fault, compiler: Compiler, tmp_path: Path) -> None:
    assert finding(fault, tmp_path, compiler)
