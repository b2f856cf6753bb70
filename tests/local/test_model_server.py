from __future__ import annotations

import asyncio
import base64
import json
import math
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from drift.contracts.final_replies import AggregateReply
from drift.contracts.replies import LocalReply, PrimerReply
from drift.model.calls import Prompt
from drift.model.graph import Chunk
from drift.prompting import prompts
from drift.prompting.elements import Context, chunk_element
from drift.prompting.markup import element
from tests.model_server_fixture import ModelServerControl

pytestmark = pytest.mark.slow

QUESTION = "How are names resolved?"
SAID = "Names are resolved using the nearest enclosing\nscope of the block."
CHUNK = chunk_element(Chunk("naming", SAID, "naming"), "K1")
PRIMER = prompts.primer(
    QUESTION,
    [element("community", "Scopes and names.", id="C1", level=1)],
    [element("sample", SAID, community="C1", document="naming")],
)
LOCAL = prompts.local(QUESTION, [QUESTION], Context(chunks=[CHUNK]))
FINDING = f"{QUESTION}\nAnswer: So.\n[1] {SAID} (naming)".replace("enclosing\n", "enclosing ")
AGGREGATE = prompts.aggregate(QUESTION, [element("finding", FINDING, confidence=0.8)], [])
HYPOTHESIS = prompts.hypothesis(QUESTION)
PREFIXES = ["/v1", "/openai/v1", "/openai/deployments/any"]


def body_of(prompt: Prompt) -> dict[str, Any]:
    messages = [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]
    schema = {
        "type": "json_schema",
        "json_schema": {"name": prompt.name, "strict": True, "schema": prompt.schema},
    }
    return {"model": "m", "temperature": 0, "messages": messages} | (
        {"response_format": schema} if prompt.schema else {}
    )


def reply_of(server: ModelServerControl, prompt: Prompt, prefix: str = "/v1") -> str:
    status, answer = server.ask("POST", f"{prefix}/chat/completions?api-version=x", body_of(prompt))
    assert status == 200, answer
    return answer["choices"][0]["message"]["content"]


def embedded(server: ModelServerControl, **body: Any) -> list[Any]:
    status, answer = server.ask("POST", "/v1/embeddings", body)
    assert status == 200, answer
    return [item["embedding"] for item in answer["data"]]


# --------------------------------------------------------------------------------------------- chat
@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_kind_of_reply_has_its_shape_at_every_path(
    model_server: ModelServerControl, prefix: str
) -> None:
    assert "names" in reply_of(model_server, HYPOTHESIS, prefix)
    assert (
        len(PrimerReply.model_validate_json(reply_of(model_server, PRIMER, prefix)).followups) >= 2
    )
    assert (
        LocalReply.model_validate_json(reply_of(model_server, LOCAL, prefix)).citations[0].chunk_id
        == "K1"
    )
    last = AggregateReply.model_validate_json(reply_of(model_server, AGGREGATE, prefix))
    assert last.sentences[-1].facts == (1,)
    assert model_server.counts() == {
        "hypothesis": 1,
        "primer_reply": 1,
        "local_reply": 1,
        "aggregate_reply": 1,
    }


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"messages": []},
        {"messages": "hello"},
        {"messages": [{"role": "system", "content": "no user"}]},
        {
            "messages": [{"role": "user", "content": "x"}],
            "response_format": {"json_schema": {"name": "unknown"}},
        },
    ],
)
def test_a_request_that_cannot_be_answered_is_refused_with_a_message(
    model_server: ModelServerControl, body: object
) -> None:
    status, answer = model_server.ask("POST", "/v1/chat/completions", body)
    assert status == 400
    assert answer["error"]["message"]


# ------------------------------------------------------------------------------------------ ranking
@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank", "/v2/rerank"])
def test_documents_are_ranked_as_coheres_api_ranks_them(
    model_server: ModelServerControl, path: str
) -> None:
    body = {"model": "m", "query": QUESTION, "documents": ["Tea is hot.", {"text": SAID}]}
    status, answer = model_server.ask("POST", path, body)
    assert status == 200
    assert [one["index"] for one in answer["results"]] == [1, 0]
    first, second = (one["relevance_score"] for one in answer["results"])
    assert 1 >= first > second >= 0
    assert len(model_server.ask("POST", path, {**body, "top_n": 1})[1]["results"]) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"query": " "},
        {"query": 1},
        {"documents": []},
        {"documents": "a"},
        {"documents": [1]},
        {"top_n": 0},
        {"top_n": "2"},
    ],
    ids=str,
)
def test_what_cannot_be_ranked_is_refused_with_its_field(
    model_server: ModelServerControl, changes: dict[str, Any]
) -> None:
    body = {"query": QUESTION, "documents": ["a", "b"], **changes}
    status, answer = model_server.ask("POST", "/v2/rerank", body)
    assert (status, answer["error"]["param"]) == (400, next(iter(changes)))


# --------------------------------------------------------------------------------------- embeddings
def test_embeddings_are_unit_vectors_of_256_floats_in_the_order_of_the_texts(
    model_server: ModelServerControl,
) -> None:
    cat, tea, kitten = embedded(model_server, input=["a cat", "green tea", "a kitten"])
    assert {len(vector) for vector in (cat, tea, kitten)} == {256}
    assert math.isclose(math.hypot(*cat), 1, abs_tol=1e-5)
    assert dot(cat, kitten) > dot(cat, tea)


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_base64_holds_the_same_floats(model_server: ModelServerControl) -> None:
    floats = embedded(model_server, input="some text", encoding_format="float")[0]
    packed = base64.b64decode(
        embedded(model_server, input="some text", encoding_format="base64")[0]
    )
    assert struct.unpack("<256f", packed) == tuple(floats)


def test_fewer_dimensions_are_cut_and_scaled_to_length_one(
    model_server: ModelServerControl,
) -> None:
    vector = embedded(model_server, input="some text", dimensions=64)[0]
    assert len(vector) == 64
    assert math.isclose(math.hypot(*vector), 1, abs_tol=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\x00"])
def test_no_text_gets_a_zero_vector(model_server: ModelServerControl, text: str) -> None:
    assert math.isclose(
        math.hypot(*embedded(model_server, input=[text, "more"])[0]), 1, abs_tol=1e-5
    )


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": []},
        {"input": [1, 2]},
        {"input": ["x"] * 2049},
        {"input": "x", "dimensions": 257},
        {"input": "x", "dimensions": 0},
        {"input": "x", "dimensions": "64"},
        {"input": "x", "encoding_format": "hex"},
    ],
)
def test_an_embedding_request_beyond_the_limits_is_refused(
    model_server: ModelServerControl, body: object
) -> None:
    status, answer = model_server.ask("POST", "/v1/embeddings", body)
    assert status == 400
    assert answer["error"]["param"] in ("input", "dimensions", "encoding_format")


# ------------------------------------------------------------------------------------------- faults
def test_a_fault_strikes_its_kind_as_often_as_asked(model_server: ModelServerControl) -> None:
    model_server.fail(
        {"fault": "status", "status": 503, "kind": "embedding", "times": 2, "skip": 1}
    )
    assert reply_of(model_server, HYPOTHESIS)
    statuses = [model_server.ask("POST", "/v1/embeddings", {"input": "x"})[0] for _ in range(4)]
    assert statuses == [200, 503, 503, 200]


def test_a_fault_can_be_meant_for_one_text_alone(model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "status", "contains": "unlucky", "times": None})
    model_server.fail({"fault": "latency", "seconds": 0.001, "times": None})
    assert model_server.ask("POST", "/v1/embeddings", {"input": "lucky one"})[0] == 200
    assert model_server.ask("POST", "/v1/embeddings", {"input": "unlucky one"})[0] == 500


def test_an_unknown_fault_is_refused_and_none_of_the_list_is_made(
    model_server: ModelServerControl,
) -> None:
    status, answer = model_server.ask(
        "POST", "/faults", [{"fault": "status"}, {"fault": "explode"}]
    )
    assert status == 400
    assert answer["errors"][0]["loc"] == [1, "fault"]
    assert reply_of(model_server, HYPOTHESIS)


async def test_a_client_that_goes_away_ends_its_request(model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "latency", "seconds": 500})
    _, writer = await asyncio.open_connection("127.0.0.1", int(model_server.url.rsplit(":", 1)[1]))
    body = json.dumps({"input": "x"})
    writer.write(
        f"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    await model_server.until(lambda seen: seen["in_flight"] == 1)
    writer.close()
    await writer.wait_closed()
    await model_server.until(lambda seen: seen["in_flight"] == 0 and seen["abandoned"] == 1)


# -------------------------------------------------------------------------------------- the process
@contextmanager
def started(*options: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.model_server", *options]
    with subprocess.Popen(  # noqa: S603 - our own module
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        yield process


def test_the_server_says_where_it_is_and_ends_with_its_parent() -> None:
    with started("--with-parent") as process:
        said = json.loads(process.stdout.readline())
        assert said == {"url": said["url"], "pid": process.pid}
        assert ModelServerControl(said["url"]).ask("GET", "/health") == (200, {"status": "ok"})
        process.stdin.close()
        assert process.wait(timeout=10) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_on_a_signal_even_while_a_request_hangs(number: signal.Signals) -> None:
    with started() as process:
        server = ModelServerControl(json.loads(process.stdout.readline())["url"])
        server.fail({"fault": "hang"})
        port = int(server.url.rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port)) as hanging:
            hanging.sendall(
                b"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\n"
                b'Content-Length: 13\r\n\r\n{"input":"x"}'
            )
            asyncio.run(server.until(lambda seen: seen["in_flight"] == 1))
            process.send_signal(number)
            process.wait(timeout=10)
        assert b"Traceback" not in process.stderr.read()


def test_a_taken_port_is_named_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with started("--port", port) as process:
            output, complaint = process.communicate(timeout=20)
    assert process.returncode == 1
    assert output == b""
    assert complaint.decode().count("\n") == 1
    assert port in complaint.decode()
