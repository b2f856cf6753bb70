"""What a terminal is sent, and what happens when nobody takes it.

A real process for everything that prints.
"""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.answer.conclusion import NOT_FOUND
from drift.local.cli import console
from drift.local.cli.terminal import clean, escaped, on_one_line
from drift.local.stack.data_folder import DataFolderError, check_data_folder
from tests.command_line import NO_SERVERS_GIVEN, ROOT

HOSTILE = (
    "\x1b[2J\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\ \x1b]52;c;ZXZpbA==\x07 \x9b31m \x9d0;t\x9c "
    "\x1bP1$q\x1b\\ "
    "\u202egnp.exe\u202c \u2066\u2069 \u200b\u200e\u200f\u061c \ufeff \U000e0041\U000e007f \u2028 "
    "\r\b\x7f\x00 [red]x[/red] \ud83d"
)
PATIENCE_S = 60


def _steers(character: str) -> bool:
    kind = unicodedata.category(character)
    visible = unicodedata.name(character, "").startswith(("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN"))
    return (
        (kind == "Cc" and character not in "\n\t")
        or kind in {"Zl", "Zp", "Cs"}
        or (kind == "Cf" and not visible)
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "question",
    [
        "drift.local.cli.exchange import _is_typed as ask; work = ask('mine')",
        "drift.local.cli.chat import _asked as ask; work = ask()",
    ],
)
def test_a_signal_ends_a_command_at_a_question(question: str, number: signal.Signals) -> None:
    script = f"""
import sys, typer
from {question}
from drift.local.cli.run import run, stoppable
print("asks", flush=True)
try:
    run(stoppable(work))
except typer.Exit as end:
    sys.exit(end.exit_code)
"""
    ours, terminal = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=NO_SERVERS_GIVEN,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "asks\n"
        assert process.stderr.read(1), "it has said what it asks"
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == 130
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()
        os.close(ours)
        os.close(terminal)


@given(st.text(st.characters(codec=None)))
def test_nothing_that_steers_or_cannot_be_seen_is_left_of_any_text(text: str) -> None:
    assert not [
        character for character in clean(text) if _steers(character) and character != "\u061c"
    ]
    assert clean(clean(text)) == clean(text)
    assert "\n" not in on_one_line(text)


@given(
    st.text(
        st.characters(exclude_categories=["Cc", "Cf", "Cs", "Mn", "Zl", "Zp", "Cn", "Co", "Lo"])
    )
)
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(st.recursive(st.text() | st.integers(), lambda inner: st.dictionaries(st.text(), inner)))
def test_json_is_the_same_document_without_what_steers(document: object) -> None:
    written = escaped(json.dumps(document, ensure_ascii=False))
    assert json.loads(written) == document
    assert not [character for character in written if _steers(character)]


def test_an_answer_shows_where_each_citation_stands_as_far_as_that_is_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cited = {"chunk_id": "k", "span": "It turns.", "document_name": "Mill"}
    known = {"page": 4, "heading": "Mill > Wheel", "place": "3 of 9", "start": 7, "end": 16}
    fact = {"fact": "It turns.", "citations": [cited, cited | known, cited | {"page": "iv"}]}
    console.show_answer(
        "?", {"final_answer": "It turns.", "key_facts": [fact], "residual_uncertainty": ""}
    )
    shown = [line.strip() for line in capsys.readouterr().out.splitlines() if "└" in line]
    assert shown == [
        '└ [Mill] "It turns."',
        '└ [Mill, page 4, Wheel, 3 of 9] "It turns."',
        '└ [Mill, page iv] "It turns."',
    ]


def test_what_stands_near_is_shown_as_that_where_nothing_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    near = {"chunk_id": "k", "span": "It turns.", "document_name": "Mill", "place": "3 of 9"}
    response: dict[str, Any] = {
        "final_answer": NOT_FOUND,
        "key_facts": [],
        "residual_uncertainty": "Who built it is open.",
        "verdict": {"verdict": "not_found", "confidence": 0.0, "near": [near]},
        "references": {"answer": NOT_FOUND, "items": [], "confidence": 0.0, "limits": ["None."]},
    }
    told = f'{console.NEAR}\n└ [Mill, 3 of 9] "It turns."\n'
    assert console.references(response).startswith(told)
    console.show_answer("?", response)
    del response["references"]
    console.show_answer("?", response)
    shown = "\n".join(line.strip() for line in capsys.readouterr().out.splitlines())
    assert shown.count(f"{NOT_FOUND}\n\n{told}\nUncertain: Who built it is open.") == 2


PRINTERS = """
import asyncio, logging, sys
from pathlib import Path
from drift.core.errors import LocalStackError
from drift.indexing.documents import Skipped
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import Ignored, Source
from drift.local.ingest.progress_bar import progress_bar
from drift.local.cli import console
from drift.local.cli import ingest_report
from drift.local.cli.doctor import machine as doctor
from drift.local.cli import prepare as prepare_command
from drift.local import say as plain
from drift.local.cli import terminal
terminal.open_streams()
console.log_to_stderr()
bad = HOSTILE
console.say(bad); console.show_error(bad); console.print_json({bad: bad})
console.show_progress({"progress_pct": 1, "phase": bad, "thought_summary": bad, "details_md": bad})
cited = {"chunk_id": bad, "span": bad, "document_name": bad}
cited |= {"page": bad, "heading": bad, "place": bad, "source_uri": bad}
fact = {"fact": bad, "citations": [cited, bad]}
told = {"final_answer": bad, "key_facts": [fact], "residual_uncertainty": bad}
console.show_answer(bad, {**told, "verdict": {"near": [cited]}})
doctor.show([doctor.Finding(bad, "ok", bad)], as_json=False)
prepare_command._remark(bad)
planned = {"cypher": [bad], "dry_run": True, "indexes": [], "problems": [bad]}
prepare_command._show({**planned, "changed": {bad: 1}, "created": [bad]})
plain.say_on_stderr(bad)
sources = Source(bad, (), (Skipped(bad, bad),), (Ignored(bad, 1, bad),))
for line in ingest_report.left_out(sources): console.say(line)
ingest_report.say_report(IngestReport(bad, bad, added=[bad], kept=[bad]))
with progress_bar(console.stderr) as told: told(bad, 1, 2); told(bad, 2, 2)
logging.getLogger("drift").warning(bad, extra={"field": bad})
print(bad)
raise LocalStackError(bad)
"""


@pytest.mark.slow
@pytest.mark.parametrize("on_terminal", [False, True])
def test_everything_that_prints_texts_of_others_takes_out_what_steers_a_terminal(
    on_terminal: bool,
) -> None:
    arguments = [sys.executable, "-c", PRINTERS.replace("HOSTILE", ascii(HOSTILE))]
    ours, theirs = pty.openpty()
    look = {"TERM": "xterm" if on_terminal else "dumb", "COLUMNS": "500", "NO_COLOR": "1"}
    with subprocess.Popen(  # noqa: S603 - our own interpreter and text
        arguments,
        cwd=ROOT,
        stdout=theirs if on_terminal else subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **look},
    ) as process:
        os.close(theirs)
        written = process.stdout.read() if process.stdout else _all_of(ours)
    os.close(ours)
    text = written.decode()
    assert text.count("gnp.exe") >= 20
    assert "LocalStackError" in text
    for sign in ("\x1b]", "\x1bP", "\x1b[2J", "\x1b[31m", "\x07", "\b", "\x00", "\x7f"):
        assert sign not in text, ascii(text[max(0, text.index(sign) - 80) :][:160])
    assert not [c for c in text if _steers(c) and c not in "\x1b\r"]


def _all_of(terminal: int) -> bytes:
    """Read until the other side is closed, which Linux tells with an error."""
    read = b""
    try:
        while some := os.read(terminal, 65536):
            read += some
    except OSError:
        pass
    return read


def _shell(command: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(  # noqa: S603 - our own command
        ["/bin/bash", "-c", f"set -o pipefail; {command}"],
        cwd=ROOT, env={**NO_SERVERS_GIVEN, "DRIFT": f"{sys.executable} -m drift", **environment},
        capture_output=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.decode(), done.stderr.decode()


FULL = "Standard output cannot be written: No space left on device."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("$DRIFT --version >&-", 2, "Standard output cannot be written: it is closed."),
        ("$DRIFT eval --help >/dev/full", 2, FULL),
        ("$DRIFT eval --help | true", 141, ""),
        ("$DRIFT --version 2>&-", 0, ""),
        ("$DRIFT --version 2>/dev/full", 0, ""),
        ("$DRIFT --version <&-", 0, ""),
    ],
)
def test_output_that_nobody_takes_ends_a_command_in_one_line(
    command: str, code: int, said: str
) -> None:
    returned, _, errors = _shell(command)
    assert (
        returned,
        [line for line in errors.splitlines() if "No server is named" not in line],
    ) == (
        code,
        [f"error: {said}"] if said else [],
    )


@pytest.mark.slow
def test_an_ascii_terminal_gets_what_it_can_show() -> None:
    code, output, errors = _shell(
        "$DRIFT ingest $'\\xc3\\xa9' -p x", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert (code, output) == (1, "")
    assert errors.startswith("error: ")
    assert "cannot be read: No such file or directory" in errors
    assert errors.isascii()


@pytest.mark.slow
def test_ctrl_c_while_the_command_line_is_loaded_is_one_word() -> None:
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "drift", "doctor"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if b"| typer" in line or b"pydantic" in line:  # in the middle of the imports
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert b"Traceback" not in rest
    assert b"Stopped." in rest


def test_a_data_folder_that_cannot_be_made_or_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder, why in (
        (tmp_path / "file", "is no folder"),
        (tmp_path / "file" / "below", "is no folder"),
        (Path("/proc/x"), "No such"),
    ):
        with pytest.raises(DataFolderError, match=why):
            check_data_folder(folder)
    with pytest.raises(DataFolderError, match="not valid UTF-8"):
        check_data_folder(tmp_path / "caf\udce9")
    for name in ("lock", "stack.json"):
        (tmp_path / "of" / name / name).mkdir(parents=True)
        with pytest.raises(DataFolderError, match=f"its `{name}` is a folder"):
            check_data_folder(tmp_path / "of" / name)
    assert check_data_folder(tmp_path / "new" / "one") > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "of"]


@pytest.mark.slow
def test_a_full_disk_is_named_in_one_line(tmp_path: Path) -> None:
    code, output, errors = _shell(
        f"ulimit -f 0; trap '' XFSZ; $DRIFT ask x --data-dir {tmp_path}/data"
    )
    assert (code, output) == (2, "")
    assert (
        errors
        == f"error: The data folder {tmp_path}/data cannot be used: File too large. Name another "
        f"one with --data-dir.\n"
    )
