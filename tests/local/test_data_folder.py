"""Which data folder a command takes, from where it is typed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from drift.local import PROJECT
from drift.local.stack import data_folder
from drift.local.stack.data_folder import (
    DataFolderError,
    check_holds_graph,
    find_data_folder,
    users_data_folder,
)
from tests.command_line import command


def found(here: Path, own: Path, said: list[str] | None = None) -> Path:
    return find_data_folder(here, own, (said if said is not None else []).append)


def test_the_nearest_data_folder_at_or_above_is_taken_and_else_the_user_s_own(
    tmp_path: Path,
) -> None:
    below, own = tmp_path / "a" / "b" / "c", tmp_path / "own"
    below.mkdir(parents=True)
    assert found(below, own) == own
    (tmp_path / "a" / ".drift").mkdir()
    assert found(below, own) == tmp_path / "a" / ".drift"
    (below / ".drift").write_text("a file is no data folder")
    assert found(below, own) == tmp_path / "a" / ".drift"
    (tmp_path / "a" / "b" / ".drift").mkdir()
    assert found(below, own) == tmp_path / "a" / "b" / ".drift"
    assert found(tmp_path / "a", own) == tmp_path / "a" / ".drift"


def test_a_clone_has_its_own_data_folder_in_all_its_folders_before_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    (clone / "docs").mkdir(parents=True)
    (tmp_path / ".drift").mkdir()
    monkeypatch.setattr(data_folder, "PROJECT", clone)
    assert found(clone / "docs", tmp_path / "own") == clone / ".drift"
    assert found(clone, tmp_path / "own") == clone / ".drift"
    assert found(tmp_path, tmp_path / "own") == tmp_path / ".drift"


def test_the_data_folder_of_another_user_is_passed_over_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".drift").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    said: list[str] = []
    assert found(tmp_path, tmp_path / "own", said) == tmp_path / "own"
    assert any(str(tmp_path / ".drift") in line and "another user" in line for line in said)


@pytest.mark.parametrize(
    ("system", "environment", "folder"),
    [
        ("linux", {}, ".local/share/drift-neo4j"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/drift-neo4j"),
        ("linux", {"XDG_DATA_HOME": "relative"}, ".local/share/drift-neo4j"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, "Library/Application Support/drift-neo4j"),
    ],
)
def test_the_user_s_own_data_folder_is_where_the_system_keeps_them(
    system: str, environment: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_folder.sys, "platform", system)
    assert users_data_folder(environment) == Path.home() / folder


def test_a_folder_without_a_graph_is_refused_with_what_fills_it(tmp_path: Path) -> None:
    with pytest.raises(DataFolderError, match="drift ingest --sample"):
        check_holds_graph(tmp_path / "none")
    (tmp_path / "neo4j-2026").mkdir()
    check_holds_graph(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("asking", [("ask", "Anything?"), ("chat", "--rag")])
def test_who_asks_where_nothing_was_ingested_is_told_so_before_a_server_starts(
    asking: tuple[str, ...], tmp_path: Path
) -> None:
    done = command(*asking, "--data-dir", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert str(tmp_path) in done.stderr
    assert "--data-dir" in done.stderr
    assert "Starting" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_commands_of_this_project_keep_their_data_in_its_clone() -> None:
    assert found(PROJECT / "docs", Path("/own")) == PROJECT / ".drift"
