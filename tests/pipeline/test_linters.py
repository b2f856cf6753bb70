"""The workflows as their own linters read them.

Zizmor for what an attacker could use, actionlint for what would not run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.tools import ROOT, TOOLS, run

pytestmark = [pytest.mark.deep, pytest.mark.timeout(300)]

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PLANTED = {
    "zizmor": ("run: make demo", 'run: echo "${{ github.head_ref }}"', "template-injection"),
    "actionlint": ("runs-on: ubuntu-24.04", "runs-on: ${{ matrix.machine }}", "machine"),
}


def zizmor(*paths: Path) -> tuple[int, str]:
    """Audit workflows with every rule, without asking anybody."""
    done = run(
        TOOLS / "zizmor", "--quiet", "--offline", "--persona", "auditor", "--no-ignores", *paths
    )
    return done.returncode, done.stdout + done.stderr


def actionlint(*paths: Path) -> tuple[int, str]:
    """Check workflows; programs that it would call if they were installed are left out."""
    done = run(TOOLS / "actionlint", "-shellcheck=", "-pyflakes=", *paths)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("linter", [zizmor, actionlint], ids=lambda linter: linter.__name__)
def test_the_linter_has_nothing_to_say(linter: object) -> None:
    assert WORKFLOWS
    status, said = zizmor(*WORKFLOWS) if linter is zizmor else actionlint(*WORKFLOWS)
    assert status == 0, said


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found(name: str, tmp_path: Path) -> None:
    right, wrong, named = PLANTED[name]
    source = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert right in source
    workflow = tmp_path / "ci.yml"
    workflow.write_text(source.replace(right, wrong, 1), encoding="utf-8")
    status, said = zizmor(workflow) if name == "zizmor" else actionlint(workflow)
    assert status != 0
    assert named in said
