"""The examples of docs/python.md run as they stand there, on real servers."""

from __future__ import annotations

import asyncio
import re
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from uuid import uuid4

import pytest

from tests.function.calling import Caller

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
RUN = """
import ast, asyncio, sys
code = compile(sys.stdin.read(), "docs/python.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
if running := eval(code, named := {"__name__": "__main__"}):
    asyncio.run(running)
"""
ASK_THE_APP = """
import httpx2

async with lifespan(app):
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://app")
    asked = {"question": "When does the ferry leave?"}
    print((await http.get("/ask", params=asked)).json()["final_answer"])
    told = (await http.get("/stream", params=asked)).text
    print([line for line in told.splitlines() if line.startswith("event")][-1])
    print((await http.get("/ask", params={"question": ""})).json()["code"])
"""
NOTES = {
    "canteen.md": "# Canteen\n\nHerring is served on Fridays.\n",
    "python.md": "Default parameter values are evaluated from left to right.\n",
    "sea/ferry.md": "# Ferry\n\nThe ferry to Skarv leaves at noon.\n",
}


async def test_every_example_does_what_it_says(
    environment: pytest.MonkeyPatch, function: Caller, tmp_path: Path
) -> None:
    environment.setenv("PYTHONPATH", str(PAGE.parents[1]))
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / name).write_text(text)

    project = f"notes-{uuid4()}"
    ours = {
        "http://127.0.0.1:7071": str(function.client.base_url),
        'project="notes"': f'project="{project}"',
        'project="python-reference"': f'project="{project}"',
        'documents("notes")': f'documents("{project}")',
    }
    firsts, adding, notebook, route, evaluation = re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )

    async def run(code: str) -> str:
        for theirs, our in ours.items():
            code = code.replace(theirs, our)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", RUN), cwd=tmp_path, stdin=PIPE, stdout=PIPE, stderr=PIPE
        )
        told, errors = await process.communicate(code.encode())
        assert process.returncode == 0, errors.decode()[-3000:]
        return told.decode()

    assert await run(adding) == "canteen.md added 1\npython.md added 1\nsea/ferry.md added 1\n"
    assert "from left to right" in await run(firsts)
    found = await run(notebook)
    assert re.match(r"0\.\d\d sea/ferry\.md:1-3 # Ferry\n", found), found
    assert found.count("leaves at noon") > 2, found
    assert "['canteen.md', 'python.md', 'sea/ferry.md']" in found
    answer, last, code = (await run(route + ASK_THE_APP)).splitlines()
    assert ("noon" in answer, last, code) == (True, "event: Answer", "invalid_request")
    assert await run(evaluation) == "recall@5 1.00\n"
