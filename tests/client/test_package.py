"""What programs get of the package: few modules, types, and a command that says what it needs."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import drift.sync
from drift import Answer, DriftClient, DriftError, IndexedOut, StreamEvent


async def main() -> None:
    async with DriftClient("http://127.0.0.1:7071") as client:
        answer = await client.ask("Who?", project="p", depth="quick")
        reveal_type(answer)
        reveal_type([event async for event in client.stream("Who?")])
        try:
            reveal_type(await client.add("a.md", "text", tags=["b"]))
        except DriftError as error:
            print(error.code)


with drift.sync.DriftClient("http://127.0.0.1:7071") as client:
    reveal_type(client.ask("Who?"))
    reveal_type(next(client.documents("p")))
    client.ask("Who?", depth="deepest")
    client.ask(question=1)
"""


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_a_client_loads_nothing_of_the_service() -> None:
    assert run("-c", "import drift, sys; assert 'pydantic' not in sys.modules").returncode == 0

    listed = run("-c", "import sys; from drift import DriftClient; print(*sys.modules)").stdout
    loaded = {one.partition(".")[0] for one in listed.split()}
    service = {
        "azure",
        "fastapi",
        "ijson",
        "mcp",
        "neo4j",
        "openai",
        "redis",
        "starlette",
        "sentencex",
    }
    assert {"httpx2", "pydantic"} <= loaded
    assert not service & loaded


def test_types_reach_programs_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    venv.create(tmp_path / "venv")  # where `drift` is a package among others
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (site / "there.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    python = f"--python-executable={tmp_path / 'venv' / 'bin' / 'python'}"
    checked = run("-m", "mypy", "--strict", python, "program.py", cwd=tmp_path).stdout
    told = re.findall(r'type is "(?:.*[.])?(\w+)\]?"', checked)
    assert told == ["Answer", "Answer", "IndexedOut", "Answer", "DocumentOut"], checked
    wrong = re.findall(r"^program.py:\d+: error: .*\[([\w-]+)\]$", checked, re.MULTILINE)
    assert wrong == ["arg-type", "arg-type"], checked


def test_the_command_says_what_it_needs() -> None:
    absent = "import sys; sys.modules['typer'] = None; from drift.__main__ import main; main()"
    done = run("-c", absent)
    said = "The command needs typer and more: pip install 'drift-neo4j[local]'.\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
