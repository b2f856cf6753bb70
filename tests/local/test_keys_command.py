"""`drift keys`: what it makes opens what was asked for, and what it cannot use stays as it was."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from drift.auth.project_keys import MAX_BYTES, hash_of, parse
from drift.core.errors import LocalStackError
from drift.local.cli.app import app
from drift.local.cli.key_files import add, new_entry, new_key

CANARY = "drift_canary-key"
ENTRY: dict[str, Any] = {"name": "b", "sha256": hash_of(CANARY.encode()), "projects": ["b"]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def keys(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["keys", *arguments])


def new(*arguments: str) -> Result:
    return keys("new", "team a", "--projects", "a,team-*", *arguments)


def said(result: Result) -> str:
    """Return what was said to people, with the frames around it taken off."""
    return re.sub(r"[\s│]+", " ", result.stderr)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ------------------------------------------------------------------------------------------- new
def test_the_key_stands_on_the_first_line_and_its_entry_on_the_second() -> None:
    done = new("--rights", "read, write", "--requests-per-minute", "60", "--tokens-per-day", "5")
    key, entry = done.stdout.splitlines()
    assert done.exit_code == 0
    assert json.loads(entry) == {
        "name": "team a",
        "sha256": hash_of(key.encode()),
        "projects": ["a", "team-*"],
        "rights": ["read", "write"],
        "requests_per_minute": 60,
        "tokens_per_day": 5,
    }
    assert key not in done.stderr
    assert "shown once" in done.stderr
    assert "PROJECT_KEYS_SECRET" in done.stderr


def test_a_program_gets_one_document_and_a_key_that_reads_without_a_quota() -> None:
    document = json.loads(new("--json").stdout)
    assert set(document) == {"key", "entry"}
    assert set(document["entry"]) == {"name", "sha256", "projects", "rights"}
    caller = parse(json.dumps([document["entry"]])).caller(document["key"].encode())
    assert (caller.may("team-1", "read"), caller.may("a", "write")) == (True, False)


def test_a_filter_is_kept_in_the_entry() -> None:
    whole = json.dumps({"type": "prefix", "key": "path", "value": "hr/"})
    given = ("--filter", "tag=hr", "--filter", "tag=all", "--filter", whole)
    entry = json.loads(new(*given, "--json").stdout)["entry"]
    assert entry["filter"] == {
        "type": "and",
        "filters": [
            {"type": "prefix", "key": "path", "value": "hr/"},
            {"type": "and", "filters": [{"type": "in", "key": "tag", "value": ["hr", "all"]}]},
        ],
    }
    (only,) = {grant.filter for grant in parse(json.dumps([entry])).entries[0].caller().grants}
    assert only is not None
    assert only.depth == 2


def test_keys_have_256_random_bits_and_fit_into_a_header() -> None:
    made = [new_key() for _ in range(100)]
    assert len(set(made)) == 100
    assert all(re.fullmatch(r"drift_[A-Za-z0-9_-]{43}", key) for key in made)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("x", "--projects", "a,"), "projects: must have 1 to 128 characters"),
        (("x", "--projects", "a*b"), "projects: may have `*` at its end only"),
        (("x", "--projects", ",".join("\U0001f600" * 50 + str(i) for i in range(99))), "25000"),
        (("x", "--projects", "caf\udce9"), "must be valid UTF-8"),
        (("x",), "--projects"),
        (("", "--projects", "a"), "name: string should have at least 1 character"),
        (("caf\udce9", "--projects", "a"), "must be valid UTF-8"),
        (("x", "--projects", "a", "--rights", "admin"), "rights: input should be 'read' or"),
        (("x", "--projects", "a", "--requests-per-minute", "10001"), "requests_per_minute: "),
        (("x", "--projects", "a", "--tokens-per-day", "9" * 4000), "tokens_per_day: "),
        (("x", "--projects", "a", "--tokens-per-day", "9" * 5000), "--tokens-per-day"),
        (("x", "--projects", "a", "--file", ""), "is empty: name a file"),
        (("x", "--projects", "a", "--filter", "tag"), "must be KEY=VALUE or a JSON object"),
        (("x", "--projects", "a", "--filter", "tagg=hr"), "must have a known `key`"),
        (("x", "--projects", "a", "--filter", "{"), "Invalid JSON"),
        (
            ("x", "--projects", "a", "--rights", "read,write", "--filter", "tag=hr"),
            "with a filter a key may only read",
        ),
    ],
)
def test_what_no_key_can_have_is_wrong_usage(arguments: tuple[str, ...], problem: str) -> None:
    done = keys("new", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert problem in said(done)
    assert isinstance(done.exception, SystemExit)


# ------------------------------------------------------------------------------------------ files
def test_a_file_is_made_for_its_owner_alone_and_grows(folder: Path) -> None:
    (folder / "empty.json").write_text(" []\n")
    assert "empty.json holds 1 key." in new("--file", "empty.json").stderr
    (folder / "empty.json").unlink()
    first, second = (json.loads(new("--file", "keys.json", "--json").stdout) for _ in range(2))
    held = parse((folder / "keys.json").read_text())
    assert stat.S_IMODE((folder / "keys.json").stat().st_mode) == 0o600
    assert [entry.sha256 for entry in held.entries] == [
        hash_of(one["key"].encode()) for one in (first, second)
    ]
    assert held.caller(first["key"].encode()).name == held.caller(second["key"].encode()).name
    assert names_in(folder) == ["keys.json"]


def test_what_a_file_holds_stays_and_so_do_its_mode_and_the_link_to_it(folder: Path) -> None:
    (folder / "apart").mkdir()
    file = folder / "apart" / "keys.json"
    file.write_text(json.dumps([ENTRY]))
    file.chmod(0o640)
    (folder / "link").symlink_to(file)
    assert "link holds 2 keys" in new("--file", "link").stderr
    assert (folder / "link").is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert json.loads(file.read_text())[0] == ENTRY
    assert parse(file.read_text()).caller(CANARY.encode()).name == "b"


def test_a_second_key_that_differs_from_the_first_is_pointed_out() -> None:
    def is_said(name: str, projects: str, *options: str) -> bool:
        made = keys("new", name, "--projects", projects, "--file", "keys.json", *options)
        return "older key of this name" in made.stderr

    assert not is_said("a", "x,y")
    assert not is_said("a", "y,x")
    assert not is_said("b", "x")
    assert is_said("b", "y")
    assert is_said("a", "x,y", "--tokens-per-day", "5")


def test_a_file_is_replaced_whole_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "keys.json").write_text(json.dumps([ENTRY]))
    seen: list[tuple[int, int]] = []
    replace = Path.replace

    def watched(draft: Path, target: Path) -> Path:
        seen.append((len(parse(target.read_text()).entries), len(parse(draft.read_text()).entries)))
        return replace(draft, target)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", watched)
    assert new("--file", "keys.json").exit_code == 0
    assert seen == [(1, 2)]

    before = (folder / "keys.json").read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    done = new("--file", "keys.json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert said(done) == "error: keys.json cannot be written: No space left on device. "
    assert (folder / "keys.json").read_bytes() == before
    assert names_in(folder) == ["keys.json"]


def test_keys_that_are_added_at_the_same_time_are_all_there(folder: Path) -> None:
    file, made = folder / "keys.json", [new_key() for _ in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: add(new_entry(key, "x", ["a"]), file), made))
    held = parse(file.read_text())
    assert {held.caller(key.encode()).name for key in made} == {"x"}


def test_a_list_ends_growing_where_a_secret_is_full(folder: Path) -> None:
    file, held = folder / "keys.json", ()

    def entry(key: str) -> Mapping[str, Any]:
        return new_entry(key, "team", ["team-*"])

    while not held or file.stat().st_size + len(json.dumps(entry(""))) + 4 <= MAX_BYTES:
        held = add(entry(new_key()), file)
    with pytest.raises(LocalStackError, match="with this key in it: is longer than 25000 bytes"):
        add(entry(new_key()), file)
    assert len(parse(file.read_text()).entries) == len(held) > 120


UNUSABLE: dict[str, tuple[bytes, str]] = {
    "no JSON": (CANARY.encode(), "is not valid JSON"),
    "half a list": (json.dumps([ENTRY]).encode()[:-1], "is not valid JSON"),
    "too long, and a list": (b"[" + b" " * 25_000 + b"]", "is longer than 25000 bytes"),
    "too long, and cut in a character": (b"[" * 24_998 + "€".encode(), "is longer than 25000"),
    "nested": (b"[" * 20_000, "is not valid JSON"),
    "UTF-16": (json.dumps([ENTRY]).encode("utf-16"), "cannot be read: it is not valid UTF-8"),
    "a key for its hash": (json.dumps([{**ENTRY, "sha256": CANARY}]).encode(), "entry 1, sha256:"),
}


@pytest.mark.parametrize(("content", "problem"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_file_that_cannot_be_used_is_refused_in_one_sentence_and_stays(
    content: bytes, problem: str, folder: Path
) -> None:
    (folder / "keys.json").write_bytes(content)
    for done in (new("--file", "keys.json"), keys("check", "keys.json")):
        assert (done.exit_code, done.stdout) == (1, "")
        assert problem in said(done)
        assert done.stderr.startswith("error: keys.json")
        assert done.stderr.count("\n") == 1
        assert "canary" not in done.stderr
        assert ENTRY["sha256"] not in done.stderr
    assert (folder / "keys.json").read_bytes() == content
    assert names_in(folder) == ["keys.json"]


def test_a_place_that_holds_no_file_is_refused_and_stays(folder: Path) -> None:
    (folder / "a-file").write_text("x")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    before = names_in(folder)
    for place, problem in {
        "absent/keys.json": "cannot be written: No such file or directory",
        ".": "cannot be added to: it is no file",
        "pipe": "cannot be added to: it is no file",
        "a-file/keys.json": "cannot be read: Not a directory",
        "loop": "cannot be read: Too many levels of symbolic links",
        "x" * 300: "cannot be read: File name too long",
    }.items():
        done = new("--file", place)
        assert (done.exit_code, done.stdout) == (1, ""), place
        assert said(done) == f"error: {place} {problem}. "
    assert names_in(folder) == before


# ------------------------------------------------------------------------------------------ check
def test_a_file_is_counted(folder: Path) -> None:
    others = [{**ENTRY, "sha256": digit * 64, "projects": ["b", f"c{digit}*"]} for digit in "12"]
    only = {"type": "eq", "key": "tag", "value": "hr"}
    last = {**others[0], "sha256": "3" * 64, "name": "c", "filter": only}
    (folder / "keys.json").write_text(json.dumps([ENTRY, *others, last]))
    done = keys("check", "keys.json", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (
        0,
        {"keys": 4, "names": 2, "projects": 3, "filtered": 1},
    )
    lines = [line.split() for line in keys("check", "keys.json").stdout.splitlines()]
    assert lines == [["keys", "4"], ["names", "2"], ["projects", "3"], ["filtered", "1"]]

    (folder / "a-folder").mkdir()
    for place, problem in (("absent", "No such file or directory"), ("a-folder", "Is a directory")):
        refused = keys("check", place)
        told = f"error: {place} cannot be read: {problem}. "
        assert (refused.exit_code, said(refused)) == (1, told)
