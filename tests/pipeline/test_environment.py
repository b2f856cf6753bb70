"""What `make` installs for which target, by programs that stand in for Python, pip and uv."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.pipeline.tools import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="there is no make")

PYTHON = """#!/bin/sh
case "$2" in pip) [ -z "$NO_NETWORK" ] || { echo "no network" >&2; exit 1; }
  echo "Collecting neo4j<7,>=6.4 (from drift-neo4j)"; echo "Obtaining it" ;; esac
echo "python $*" >> "$SAID"
"""
UV = '#!/bin/sh\necho "uv $*" >> "$SAID"\nexit "${UV_ENDS:-0}"\n'
LOCAL, TEST = "--editable .[local]", "--editable .[local,test]"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder with the Makefile, and an environment whose programs note what they do."""
    for name in ("Makefile", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    programs = {f".venv/bin/{name}": PYTHON for name in ("python", "ruff", "mypy", "pytest")}
    for name, text in {**programs, "uv/uv": UV}.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text)
        program.chmod(0o700)
    return tmp_path


def make(
    clone: Path, target: str, *, uv: bool = False, env: Mapping[str, str] | None = None
) -> tuple[int, list[str], str]:
    """Make a target; return its status, what was installed by what, and what people were told."""
    said = clone / "said"
    said.unlink(missing_ok=True)
    path = f"{clone / 'uv'}:/usr/bin:/bin" if uv else "/usr/bin:/bin"
    given = {"PATH": path, "SAID": str(said), "HOME": os.environ["HOME"], **(env or {})}
    done = subprocess.run(  # noqa: S603 - our own Makefile
        [str(shutil.which("make")), target],
        cwd=clone,
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = said.read_text().splitlines() if said.exists() else []
    installed = [
        f"{line.partition(' ')[0]} {line[line.index('--editable') :]}"
        for line in lines
        if "--editable" in line
    ]
    return done.returncode, installed, done.stdout + done.stderr


def test_the_demo_gets_no_more_than_it_needs_and_tests_add_theirs_to_it(clone: Path) -> None:
    status, installed, told = make(clone, "demo")
    assert (status, installed) == (0, [f"python {LOCAL}"])
    assert "Collecting neo4j\n" in told  # what takes a while is seen to go on
    assert make(clone, "check")[:2] == (0, [f"python {TEST}"])
    for later in ("demo", "serve", "check", "test", "format"):
        assert make(clone, later)[:2] == (0, [])


@pytest.mark.parametrize("target", ["test", "check", "format"])
def test_what_tests_finds_its_tools_in_a_new_clone(clone: Path, target: str) -> None:
    assert make(clone, target)[:2] == (0, [f"python {LOCAL}", f"python {TEST}"])


def change_dependencies(clone: Path) -> None:
    """Have what is installed be older: two files that are written at once may have one time."""
    changed = (clone / "pyproject.toml").stat().st_mtime
    for stamp in (clone / ".venv").glob(".ready*"):
        os.utime(stamp, (changed - 60, changed - 60))


def test_changed_dependencies_are_installed_for_both(clone: Path) -> None:
    make(clone, "check")
    change_dependencies(clone)
    assert make(clone, "demo")[1] == [f"python {LOCAL}"]
    assert make(clone, "check")[1] == [f"python {TEST}"]


def test_uv_installs_where_it_is_and_pip_where_it_cannot(clone: Path) -> None:
    assert make(clone, "demo", uv=True)[:2] == (0, [f"uv {LOCAL}"])
    change_dependencies(clone)
    status, installed, _ = make(clone, "demo", uv=True, env={"UV_ENDS": "2"})
    assert (status, installed) == (0, [f"uv {LOCAL}", f"python {LOCAL}"])


def test_an_installation_that_failed_is_done_again(clone: Path) -> None:
    make(clone, "demo")
    change_dependencies(clone)
    status, _, told = make(clone, "demo", env={"NO_NETWORK": "1"})
    assert status != 0
    assert "no network" in told
    assert make(clone, "demo")[:2] == (0, [f"python {LOCAL}"])
