"""A real model that is far too small: twenty questions, and none fails without a reason."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from drift.local.hosts.local_host import serving
from drift.model.reading import ABOUT_PROJECT
from tests.function.calling import calling
from tests.function.corpus import Corpus
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.deep, pytest.mark.timeout(900, func_only=True)]

PYTHON = Path(sys.prefix) / "small_model" / "bin" / "python"
SERVE = Path(__file__).parents[1] / "small_model" / "serve.py"
UNUSABLE = "The model gave no usable answer: "
# on a busy machine it is slow as well
TOO_SLOW = ("The model server did not answer in time.", "The request was not answered within ")
QUESTIONS = [
    "Who assigns the berths of the North Quay?",
    "When does the Harbour Office refuse a berth?",
    "Which ships need a pilot?",
    "Where does a pilot board?",
    "When does the Pilot Service stop all passages?",
    "Who computes the Tide Table?",
    "What does the Tide Table list?",
    "What does the Lighthouse measure?",
    "How often does the keeper report?",
    "What colour is the Lighthouse?",
]


@pytest.fixture
def small_model(kind: str, model_server: ModelServerControl) -> Iterator[str]:
    """The address of the small model, held to the schema by a grammar, or by nothing."""
    if not PYTHON.exists():
        pytest.skip("`make tools` installs the small model")
    command = [str(PYTHON), str(SERVE), model_server.url, kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - our own script
        assert process.stdout
        try:
            lines = (line.decode().strip() for line in process.stdout)
            yield next(line for line in lines if line.startswith("http://127.0.0.1"))
        finally:
            process.kill()


@pytest.mark.parametrize("kind", ["grammar", "plain"])
async def test_twenty_questions_end_in_an_answer_a_refusal_or_a_clear_error(
    kind: str, small_model: str, environment: pytest.MonkeyPatch, corpus: Corpus
) -> None:
    settings = {
        "OAI_BASE_URL": small_model,
        "MAX_COMPLETION_TOKENS": "200",
        "MAX_CHUNKS_FOR_PROMPT": "2",
        "CACHE": "off",
        "DEADLINE_SEC": "70",  # ten questions end within this test's own time
    }
    for name, value in settings.items():
        environment.setenv(name, value)

    answered = unusable = 0
    async with serving() as url, calling(url) as caller:
        for question in QUESTIONS:
            response = await caller.ask(question, depth="quick")
            document = response.json()
            if response.status_code == 200:
                answered += 1
                cited = [c for fact in document["key_facts"] for c in fact["citations"]]
                # it may take a question for one about the project as a whole, and cite its counts
                spans = [c["span"] for c in cited if c["document_name"] != ABOUT_PROJECT]
                assert all(map(corpus.holds, spans))
                assert bool(document["final_answer"]) or document["residual_uncertainty"]
            else:
                assert document["code"] in {"model_unavailable", "deadline"}
                assert document["detail"].startswith((UNUSABLE, *TOO_SLOW))
                unusable += document["detail"].startswith(UNUSABLE)
    # without a grammar it writes no JSON by itself
    assert answered > 0 if kind == "grammar" else answered + unusable > 0
