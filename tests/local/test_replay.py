"""`drift replay`, and what it says of files that it cannot replay; no server runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from drift.core.errors import LocalStackError
from drift.http.settings import load
from drift.local.recording.head import head_of, settings_of
from drift.local.recording.replay import recording
from drift.local.recording.tape import MOST_LINE_BYTES
from tests.command_line import ROOT, command
from tests.function.corpus import QUESTION
from tests.security.canaries import SECRETS

REAL = ROOT / "tests" / "data" / "recorded_request.jsonl"


def test_the_code_that_is_here_gives_the_recorded_answer() -> None:
    """When this fails, the answer to a question has moved: `drift replay` shows how."""
    done = command("replay", str(REAL), "--json", NEO4J_URI="bolt://nowhere.invalid", CACHE="no")
    told = json.loads(done.stdout)
    assert (done.returncode, told["same"], told["notes"]) == (0, True, []), done.stdout[:4000]
    (one,) = told["requests"]
    assert one["answer"]["key_facts"]
    assert one["differences"] == []


def _changed(line: str, old: str, new: str) -> str:
    assert old in line
    return line.replace(old, new)


def _with_line(at: int, line: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [*lines[:at], line, *lines[at:]]


Lines = list[str]
CASES: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "no answer": (lambda lines: lines[:-1], "is cut: no request in it has an answer"),
    "cut line": (lambda lines: [*lines[:-1], lines[-1][:90]], "is no JSON object"),
    "no head": (lambda lines: lines[1:], "is no recording: `drift ask --record FILE` writes one"),
    "empty": (lambda _: [], "is no recording"),
    "other format": (_with_line(0, '{"drift_recording": 2}'), "is a recording of format 2"),
    "no JSON": (_with_line(1, "Not JSON."), "line 2 is no JSON object"),
    "deep JSON": (_with_line(1, "[" * 100_000), "line 2 is no JSON object"),
    "long line": (_with_line(1, f'{{"a": "{"b" * MOST_LINE_BYTES}"}}'), "is longer than"),
    "half a call": (_with_line(2, '{"call": {"kind": "graph"}}'), "line 3: no call and no request"),
    "no time": (
        _with_line(2, '{"call": {"kind": "chat", "asked": 1, "begin": "a", "end": 1}}'),
        "line 3: no call",
    ),
    "no settings": (
        lambda lines: ['{"drift_recording": 1}', *lines[1:]],
        "says no settings that this release can use",
    ),
    "wrong setting": (lambda lines: [_changed(lines[0], '"auto"', "3"), *lines[1:]], "HYDE"),
    "wrong request": (
        lambda lines: [*lines[:-1], _changed(lines[-1], '"top_k":', '"most":')],
        "does not know",
    ),
}


@pytest.mark.parametrize(("change", "said"), CASES.values(), ids=CASES)
def test_a_file_that_is_no_recording_is_told_in_a_sentence(
    tmp_path: Path, change: Callable[[list[str]], list[str]], said: str
) -> None:
    path = tmp_path / "request.jsonl"
    path.write_text("".join(f"{line}\n" for line in change(REAL.read_text().splitlines())))
    done = command("replay", str(path))
    assert done.returncode == 1
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_replies_that_make_no_sense_end_in_an_error_of_the_request(tmp_path: Path) -> None:
    path = tmp_path / "request.jsonl"
    lines = [json.loads(line) for line in REAL.read_text().splitlines()]
    for line in lines:
        if "call" in line:
            line["call"]["reply"] = {"rows": 7, "status": "?"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = command("replay", str(path), "--json")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    (one,) = json.loads(done.stdout)["requests"]
    assert one["answer"]["status"] == 500


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = command("replay", str(tmp_path / "none.jsonl"))
    assert done.returncode == 1
    assert "none.jsonl cannot be read" in " ".join(done.stderr.split())


def test_nothing_is_overwritten_and_nothing_is_left_of_what_did_not_begin(tmp_path: Path) -> None:
    path = tmp_path / "request.jsonl"
    path.write_text("mine")
    done = command("ask", QUESTION, "--project", "p", "--record", str(path))
    assert done.returncode == 1
    assert "overwrites nothing" in " ".join(done.stderr.split())
    assert path.read_text() == "mine"
    path.unlink()
    with recording(path):
        pass
    assert not path.exists()


def test_the_head_holds_no_secret_and_gives_the_settings_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {
        "NEO4J_URI": "bolt://127.0.0.1:7687",
        "NEO4J_USERNAME": "canaryName",
        "NEO4J_PASSWORD": SECRETS["password of Neo4j"],
        "OAI_BASE_URL": "http://canaryUser:canaryWord@127.0.0.1:1/v1?key=canaryKey#canaryEnd",
        "OAI_MODEL": "m",
        "OAI_KEY": SECRETS["key of the model"],
        "OAI_EMBED_MODEL_NAME": "e",
        "VECTOR_INDEX_DIMENSIONS": "256",
        "RERANK_URL": "http://canaryUser:canaryWord@127.0.0.1:2/rerank",
        "RERANK_MODEL": "r",
        "RERANK_KEY": "canaryRerankKey",
        "ANTHROPIC_KEY": "canaryAnthropicKey",
        "MILVUS_TOKEN": "canaryMilvusToken",
        "REDIS_URL": f"redis://:{SECRETS['password of Redis']}@127.0.0.1:3",
        "PROJECT_KEYS_SECRET": "https://canary-vault.vault.azure.net/secrets/keys",
        "MAX_PASSES": "3",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    head = head_of(load(), 1.5)
    assert "canary" not in json.dumps(head)
    monkeypatch.setenv("MAX_PASSES", "4")  # nothing of the environment comes into a replay
    again = settings_of(json.loads(json.dumps(head)))
    assert (again.max_passes, again.oai_base_url) == (3, "http://127.0.0.1:1/v1")


def test_vectors_beside_the_graph_are_not_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_USERNAME": "u",
        "NEO4J_PASSWORD": "p",
        "OAI_BASE_URL": "http://127.0.0.1:1",
        "OAI_MODEL": "m",
        "OAI_EMBED_MODEL_NAME": "e",
        "VECTOR_INDEX_DIMENSIONS": "256",
        "VECTOR_STORE": "milvus",
        "MILVUS_URI": "here.db",
    }.items():
        monkeypatch.setenv(name, value)
    with (
        recording(tmp_path / "request.jsonl") as build,
        pytest.raises(LocalStackError, match="VECTOR_STORE"),
    ):
        build(load())
