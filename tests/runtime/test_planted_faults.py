"""Mistakes that the platform answers with "no functions", or worse with wrong answers.

Each is seen before it is deployed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.worker_process import (
    KEY,
    NEEDS_PYTHON_313,
    REASON,
    ROOT,
    WorkerFailedError,
    WorkerHost,
    worker_host,
)

pytestmark = [pytest.mark.deep, pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON)]

IMPORTS = "import logging\n"
GUARD = "async def run(req: Request, context: func.Context) -> Response:"
ANSWERED = "return await dispatcher.answer("
APP = "node_timer = NodeTimer(dispatcher.provider)\n"


def mutated(folder: Path, old: str, new: str) -> Path:
    """Return a folder with a copy of the function in which `old` has become `new`."""
    text = Path(ROOT, "function_app.py").read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} is no longer in function_app.py exactly once"
    (folder / "function_app.py").write_text(text.replace(old, new), encoding="utf-8")
    (folder / "host.json").write_bytes(Path(ROOT, "host.json").read_bytes())
    return folder


def crashing(folder: Path, words: str) -> Path:
    """Return a folder with the function whose `health_live` raises an exception of these words."""
    table = "for one in ROUTES:"
    handler = f"async def health_live(call):\n    raise RuntimeError({words!r})\n"
    routes = (
        "from dataclasses import replace\n"
        "ROUTES = [\n    replace(one, handler=health_live) if one.name == 'health_live' else one\n"
        "    for one in ROUTES\n]\n"
    )
    return mutated(folder, table, f"{handler}{routes}{table}")


async def complaints(host: WorkerHost) -> list[str]:
    """Return what is wrong with a function that could be indexed."""
    async with host.client() as client:
        live = await client.get("/health/live")
        bad = await client.post(
            f"/retrieve?code={KEY}", content=b"{}", headers={"content-type": "application/json"}
        )
    state = await host.state()
    found = {
        f"health/live answered {live.status_code} {live.text!r}": (live.status_code, live.content)
        != (200, b""),
        f"retrieve answered {bad.status_code} {bad.text!r}": (
            bad.status_code,
            bad.headers.get("content-type"),
        )
        != (400, "application/problem+json"),
        f"an invocation failed: {', '.join(state['outcomes'])}": set(state["outcomes"])
        != {"success"},
        f"{state['entries']} answered invocations are not forgotten": state["entries"] > 0,
        "a function key is in the log": KEY in host.log_text(),
    }
    return [complaint for complaint, holds in found.items() if holds]


async def test_the_function_as_it_is_gives_no_cause_for_complaint(tmp_path: Path) -> None:
    with worker_host({}, mutated(tmp_path, APP, APP)) as host:
        assert await complaints(host) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (IMPORTS, 'import logging\nimport os\nURI = os.environ["NEO4J_URI"]\n', "'NEO4J_URI'"),
        (GUARD, GUARD.replace("req: Request", "req: func.HttpRequest"), "HttpRequest"),
        (APP, APP + "second = func.FunctionApp()\n", "More than one"),
    ],
    ids=[
        "a setting read at import",
        "the classic request type",
        "a second FunctionApp",
    ],
)
def test_a_mistake_that_leaves_no_function_is_told_by_the_worker(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    with pytest.raises(WorkerFailedError, match=says), worker_host({}, mutated(tmp_path, old, new)):
        pass


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (ANSWERED, "await dispatcher.answer(", "health/live answered"),
        ("_INVOCATIONS.pop(context.invocation_id, None)", "pass", "not forgotten"),
        (
            'logging.getLogger("uvicorn.access").addFilter(lambda _record: False)',
            "",
            "a function key is in the log",
        ),
    ],
    ids=[
        "nothing returned",
        "invocations not forgotten",
        "the access log on",
    ],
)
async def test_a_mistake_that_the_worker_accepts_is_seen_in_its_answers(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    with worker_host({}, mutated(tmp_path, old, new)) as host:
        found = await complaints(host)
    assert says in "\n".join(found)
