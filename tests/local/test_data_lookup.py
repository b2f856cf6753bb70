"""Which data folder a command takes when none is named."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest

from drift.errors import LocalStackError
from drift.offline.commands.work import serve as serving
from drift.offline.commands.work.chatting import COMMANDS, Conversation
from drift.offline.commands.work.servers import require_data
from drift.offline.stack.data_folder import nearest, of_user
from drift.offline.stack.stack import StackOptions

NAME = Path(".drift")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without data of their own, in a folder inside a project."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", "")
    inner = tmp_path / "project" / "docs" / "deep"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    return tmp_path


def test_the_folder_of_this_place_goes_before_one_above(home: Path) -> None:
    (home / "project" / NAME).mkdir()
    assert nearest(NAME) == home / "project" / NAME
    Path(NAME).mkdir()
    assert nearest(NAME) == NAME


def test_a_file_of_the_name_is_no_data_folder(home: Path) -> None:
    (home / "project" / NAME).write_text("")
    assert nearest(NAME) == NAME


def test_the_users_own_folder_is_taken_where_there_is_none_above(home: Path) -> None:
    assert nearest(NAME) == NAME
    of_user().mkdir(parents=True)
    assert nearest(NAME) == of_user()
    assert home in of_user().parents


def test_a_folder_of_another_user_is_not_taken(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "project" / NAME).mkdir()
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    assert nearest(NAME) == NAME


def test_what_was_never_filled_is_not_asked(home: Path) -> None:
    with pytest.raises(LocalStackError, match="drift ingest FOLDER"):
        require_data(StackOptions())
    require_data(StackOptions(given={"NEO4J_URI": "bolt://127.0.0.1:1"}))
    (home / "project" / NAME).mkdir()
    require_data(StackOptions(data_dir=nearest(NAME)))


async def test_a_taken_port_is_said_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        how = serving.HowToServe(taken.getsockname()[1], (), None)
        options = StackOptions(data_dir=tmp_path / "data")
        with pytest.raises(LocalStackError, match="is taken"):
            await serving.serve(options, how, as_json=False)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("line", ["/help\n", "/halp\n", "/\n", "/?\n"])
def test_a_command_is_no_question(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    class Silent:
        async def answer(self, *_asked: object) -> str:
            raise AssertionError("a command was asked")

    assert asyncio.run(Conversation(Silent(), lambda _: None).said(line))
    assert COMMANDS in capsys.readouterr().err
