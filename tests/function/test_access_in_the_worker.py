"""Keys of our own in the real worker, where the platform asks for none."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx2
import pytest

from tests.function.access_keys import entry
from tests.function.calling import Caller
from tests.function.corpus import PROJECT, Corpus
from tests.runtime.worker_process import NEEDS_PYTHON_313, REASON, WorkerHost, worker_host

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.skipif(NEEDS_PYTHON_313, reason=REASON),
]

READER, READERS = entry("reader", [PROJECT])
OTHER, OTHERS = entry("other", ["other-project"])


@pytest.fixture(scope="module")
def worker(
    base_settings: dict[str, str],
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
) -> Iterator[WorkerHost]:
    """The function in the real worker, with keys of its own."""
    keys = {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps([READERS, OTHERS])}
    with worker_host({**base_settings, **keys}) as host:
        yield host


def client(worker: WorkerHost, **headers: str) -> httpx2.AsyncClient:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.AsyncClient(base_url=worker.url, headers=named, trust_env=False, timeout=120)


async def test_the_platform_asks_for_no_key_and_every_route_asks_for_one_of_ours(
    worker: WorkerHost,
) -> None:
    triggers = worker.told["triggers"].values()
    assert {trigger["authLevel"].lower() for trigger in triggers} == {"anonymous"}

    answers = {}
    async with client(worker, x_functions_key="any") as nobody:
        for trigger in triggers:
            for method in trigger["methods"]:
                path = "/" + trigger["route"].replace("{", "").replace("}", "").replace("*", "")
                reply = await nobody.request(method, path, json={})
                answers[trigger["route"]] = reply.status_code
    assert answers.pop("health/live") == 200
    assert answers.pop("rag") == 200
    assert answers.pop("rag/{*file}") == 404  # there is no such file
    assert answers.pop(".well-known/oauth-protected-resource/mcp") == 404  # for Entra ID alone
    assert set(answers.values()) == {401}
    assert len(answers) >= 4


async def test_a_key_gets_its_project_and_no_other(worker: WorkerHost) -> None:
    async with client(worker, x_api_key=READER) as reader:
        assert (await Caller(reader).answer())["key_facts"]
    async with client(worker, authorization=f"Bearer {OTHER}") as other:
        assert (await Caller(other).ask()).status_code == 403
        async with Caller(other).streaming() as stream:
            assert stream.response.status_code == 403
        assert (await Caller(other).answer(project_id="other-project"))["no_data_found"]
    assert READER not in worker.log_text()
    assert '"caller":"other"' in worker.log_text().replace('\\"', '"')
