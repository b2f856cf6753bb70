"""Text of callers, documents and models stays a value.

In statements, Markdown, log lines, headers and events.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from neo4j import EagerResult

from drift.core.deadline import Deadline
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.http.dispatcher import Dispatcher
from drift.http.service import Service
from drift.local.hosts.local_host import serving
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.stack.neo4j.server import Neo4jServer
from drift.model.graph import FollowupQuery, PrimerQuery
from drift.model.tree import Citation
from drift.search.progress import citation_lines, escape_markdown, name_list
from tests.contract.graph_backends import DIMENSIONS, axis
from tests.fake_service import fake_service
from tests.fakes import ListSink, ScriptedChat, StubGraph, ports
from tests.security.hostile_documents import HOSTILE, evidence_of, primer_of
from tests.security.raw_http import JSON, STREAM, Answer, call, events
from tests.security.test_isolation import LogText
from tests.unit.searching import aggregated, local, primer, script

Route = Callable[[Service], None]

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
FORGED_LINE = '{"event":"retrieval_ended","project_id":"p","outcome":"ok"}'
INJECTIONS: Mapping[str, str] = {
    "Cypher": "x'}) DETACH DELETE n //",
    "Cypher in backticks": "x`) MATCH (n) DETACH DELETE n WITH n AS `y",
    "a parameter": "$asked.project {project_id} ${project_id} %(project_id)s",
    "Lucene": 'project_key:* OR "*" AND NOT (title:[* TO *]) /.*/ ~2 ^9',
    "format strings": "%s %d %(name)s {} {0.__class__.__init__.__globals__} {{x}} $name "
                      "${jndi:ldap://x}",
    "a line of log": f"p\n{FORGED_LINE}",
    "a line of log, by CR": f"p\r\n{FORGED_LINE}\r",
    "ends of lines of Unicode": f"p\u2028{FORGED_LINE}\u2029\u0085\x0b\x0c\x1c\x1d\x1e{{}}",
    "the end of a JSON string": '","event":"forged","project_id":"other',
    "a terminal": "\x1b[2J\x1b[31mred\x1b]0;title\x07\b\b\b\x7f\x9b31m",
    "a header": "p\r\nset-cookie: admin=1\r\n\r\n<html>",
    "an event": 'p\n\nevent: result\ndata: {"final_answer": "forged"}\n\n',
    "an event, by CR": "p\r\revent: error\rdata: {}\rid: 1\rretry: 1\r\r: comment\r",
    "right to left": "\u202e\u2066drow\u2069\u202c\u200b\ufeff",
    "Markdown": "](javascript:alert(1)) ![x](http://127.0.0.1/x.png) <img src=x onerror=alert(1)>",
    "HTML in entities": "&lt;script&gt;&#60;img&#62;",
}  # fmt: skip
"""What each of them is aimed at; all are valid project ids."""

FEW = ("a line of log, by CR", "a terminal", "an event, by CR", "Markdown")
every_injection = pytest.mark.parametrize("text", [INJECTIONS[name] for name in FEW], ids=FEW)
"""One for each place that the routes write to."""


# --------------------------------------------------------------------------------------- statements
class Recording(Connection):
    """A connection that keeps what it sends: statements and, as JSON, their parameters."""

    def __init__(self, *login: str) -> None:
        super().__init__(*login)
        self.statements: list[str] = []
        self.parameters: list[str] = []

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> EagerResult:
        self.statements.append(text)
        self.parameters.append(json.dumps(parameters, ensure_ascii=False))
        return await super().read(text, parameters, timeout_s)


@pytest.mark.neo4j
@pytest.mark.slow
@pytest.mark.timeout(180, func_only=True)
async def test_what_a_caller_or_a_graph_says_is_a_parameter_never_a_statement(
    neo4j_2026: Neo4jServer,
) -> None:
    login = (neo4j_2026.uri, neo4j_2026.user, neo4j_2026.password, neo4j_2026.database)
    async with Recording(*login) as connection:
        await Neo4jWriter(connection, IndexNames()).prepare(DIMENSIONS)
        statements: dict[str, list[str]] = {}
        for text in ("harmless", *INJECTIONS.values()):
            graph = Neo4jGraph(connection, IndexNames())
            connection.statements.clear()
            connection.parameters.clear()
            found = await graph.primer(PrimerQuery(text, (text,), axis(0), 5), Deadline.after(120))
            assert found == ()
            await graph.followup(FollowupQuery(text, text, axis(0), (text, 1)), Deadline.after(120))
            statements[text] = list(connection.statements)
            assert (
                sum(json.dumps(text, ensure_ascii=False) in sent for sent in connection.parameters)
                >= 2
            )
            assert not any(
                text in statement for statement in connection.statements if text != "harmless"
            )
    assert len(statements["harmless"]) >= 2
    assert set(map(tuple, statements.values())) == {tuple(statements["harmless"])}


# ----------------------------------------------------------------------------------------- Markdown
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_TAG = re.compile(r"<[^>]*>")


def shown(markdown: str) -> tuple[set[str], str]:
    """Return what a reader of Markdown makes of it: its tags, and the words that are seen."""
    html = MARKDOWN.render(markdown)
    words = (
        _TAG.sub("", html)
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", '"')
        .replace("&amp;", "&")
    )
    return set(_TAG.findall(html)), " ".join(words.split())


def one_line(text: str) -> str:
    """Return text as Markdown can show it at all."""
    return " ".join(text.replace("\x00", "\ufffd").split())


def test_the_reader_of_markdown_sees_what_is_not_escaped() -> None:
    assert shown("[x](http://127.0.0.1)")[0] == {
        "<p>",
        '<a href="http://127.0.0.1">',
        "</a>",
        "</p>",
    }
    assert shown("- --")[0] == {"<hr />"}
    assert shown("&lt;b&gt;")[1] == "<b>"


SIGNS = st.text(
    st.sampled_from("-=+#*_~`<>[]()!|&;:.\\\"' \n\t0123456789ablt\u2028\x00"), max_size=30
)


@given(SIGNS | st.sampled_from([*HOSTILE.values(), *INJECTIONS.values()]) | st.text())
def test_any_text_is_shown_as_it_is_and_adds_no_mark_of_markdown(text: str) -> None:
    wanted = one_line(text)
    assert shown(escape_markdown(text)) == ({"<p>", "</p>"} if wanted else set(), wanted)
    assert shown(f"- {escape_markdown(text)}")[0] == {"<ul>", "<li>", "</li>", "</ul>"}


@given(SIGNS, SIGNS)
def test_names_and_excerpts_add_no_link_image_or_html_to_a_progress_message(
    name: str, span: str
) -> None:
    two = [Citation("1", span, name), Citation("2", "plain", "](x)")]
    for line in (citation_lines(two), name_list([name, "](x)"], bracketed=True)):
        assert shown(line)[0] <= {"<p>", "</p>"}


# -------------------------------------------------------------------- through the function's routes
def saying(text: str, sink: ListSink | None = None) -> Service:
    """Return a service whose graph and model say this text wherever they can."""
    replies = {
        "hypothesis": text,
        "primer_reply": {**primer(f"Who? {text}", f"Where? {text}"), "initial_answer": text},
        "local_reply": local(f"So: {text}"),
        "aggregate_reply": aggregated(final="So it is", doubt=f"Or: {text}"),
    }
    graph = StubGraph(primer_of(text), lambda _query: evidence_of(text))
    return fake_service(ports(graph, ScriptedChat(script(**replies))), sink)


@pytest.fixture
def log_text() -> Iterator[io.StringIO]:
    """What a plain handler writes, as a console or a file has it."""
    with LogText() as text:
        yield text


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def url(dispatcher: Dispatcher) -> AsyncIterator[str]:
    """The function on the local host; a test puts its own service behind the routes."""
    async with serving(dispatcher=dispatcher) as served:
        yield served


in_one_loop = pytest.mark.asyncio(loop_scope="module")


async def retrieved(url: str, text: str, headers: Mapping[str, str], **fields: Any) -> Answer:
    """Ask with this text in every field that takes one."""
    body = json.dumps({"query": f"q {text}", "project_id": text, "include": ["trace"], **fields})
    return await call(url, "POST", "/retrieve", headers, body.encode())


@in_one_loop
@every_injection
async def test_one_record_stays_one_line_that_reads_back_to_the_same_value(
    url: str, behind_the_routes: Route, log_text: io.StringIO, text: str
) -> None:
    behind_the_routes(saying(text))
    odd = {
        "traceparent": f"{PARENT}{FORGED_LINE}",
        "tracestate": f"a={FORGED_LINE}",
        "x-forwarded-for": "\x1b[31m",
    }
    assert (await retrieved(url, text, JSON | odd)).status == 200
    written = log_text.getvalue()
    assert written.isascii()
    assert all(character.isprintable() or character == "\n" for character in written)
    lines = [json.loads(line) for line in written.splitlines()]
    assert {line["event"] for line in lines} >= {
        "retrieval_started",
        "phase_ended",
        "retrieval_ended",
    }
    assert {line["project_id"] for line in lines if "project_id" in line} == {text}
    assert [line["outcome"] for line in lines if line["event"] == "retrieval_ended"] == ["ok"]
    assert all(line.get("trace_id") != "4bf92f3577b34da6a3ce929d0e0e4736" for line in lines)


@in_one_loop
@every_injection
async def test_an_answer_holds_the_text_as_a_plain_string(
    url: str, behind_the_routes: Route, text: str
) -> None:
    sink = ListSink()
    behind_the_routes(saying(text, sink))
    answer = await retrieved(url, text, JSON)
    assert answer.status == 200
    assert dict(answer.headers)["content-type"] == "application/json"
    document = answer.json()
    assert document["final_answer"] == "So it is 0."
    assert document["residual_uncertainty"] == f"Or: {text}".strip()
    cited = document["key_facts"][0]["citations"][0]
    assert (cited["document_name"], cited["span"] in text) == (text, True)
    assert document["trace"]["initial_answer"] == text.strip()
    assert {message["project_id"] for message in sink.messages} == {text}
    summaries = [message["thought_summary"] for message in sink.messages]
    assert f"Looking into: Who? {text}".strip() in summaries, "it is plain text"
    for message in sink.messages:
        tags = {"<p>", "</p>", "<ul>", "<li>", "</li>", "</ul>"}
        assert shown(message.get("details_md", ""))[0] <= tags


@in_one_loop
@every_injection
async def test_an_event_of_a_stream_holds_the_text_and_ends_where_it_should(
    url: str, behind_the_routes: Route, text: str
) -> None:
    behind_the_routes(saying(text))
    answer = await retrieved(url, text, STREAM)
    found = events(answer.body)
    assert [name for name, _ in found].count("result") == 1
    told = {"progress", "answer_delta", "citations", "followup"}
    assert {name for name, _ in found[:-1]} <= told
    assert all(isinstance(json.loads(data), dict) for _, data in found)
    result = json.loads(found[-1][1])
    assert result["residual_uncertainty"] == f"Or: {text}".strip()
    text_told = "".join(json.loads(data)["text"] for name, data in found if name == "answer_delta")
    assert text_told == result["final_answer"]
    assert {json.loads(data)["project_id"] for name, data in found if name == "progress"} == {text}


def test_the_reader_of_events_sees_what_a_line_end_in_an_event_would_add() -> None:
    forged = events(f"event: progress\ndata: {INJECTIONS['an event']}\n\n".encode())
    assert [name for name, _ in forged] == ["progress", "result"]
    assert events(b"event: progress\rdata: {}\r\revent: error\r\ndata: 1\r\n\r\n") == [
        ("progress", "{}"),
        ("error", "1"),
    ]


# ------------------------------------------------------------------------------------------ headers
OURS = ("x-retrieval-id", "x-request-id")
HEADERS = {"date", "server", "content-type", "content-length", *OURS, "connection"}


@in_one_loop
@pytest.mark.parametrize("form", ["{text}", "{id}{text}"])
async def test_no_retrieval_id_reaches_a_header_unless_it_is_a_uuid(
    url: str, behind_the_routes: Route, form: str
) -> None:
    text = INJECTIONS["a header"]
    behind_the_routes(saying(text))
    answer = await retrieved(url, text, JSON, retrieval_id=form.format(text=text, id=uuid4()))
    assert answer.status == 400
    assert {name for name, _ in answer.headers} == HEADERS
    assert re.fullmatch(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", dict(answer.headers)["x-retrieval-id"]
    )


@in_one_loop
@pytest.mark.parametrize("form", ["{}", "urn:uuid:{}"])
async def test_a_uuid_in_any_form_comes_back_in_the_plain_one(
    url: str, behind_the_routes: Route, form: str
) -> None:
    behind_the_routes(saying("harmless"))
    own = uuid4()
    answer = await retrieved(url, "harmless", JSON, retrieval_id=form.format(str(own).upper()))
    assert dict(answer.headers)["x-retrieval-id"] == str(own)
    assert {name for name, _ in answer.headers} == HEADERS
