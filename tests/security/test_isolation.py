"""Two projects that look alike are asked at the same time through one service.

Nothing of one reaches what is the other's.

The graph itself is held to this by the contract tests. Here it is the whole way: prompts, embedded
texts, answers, traces, progress messages, log lines and spans, with a model that repeats everything
it is shown.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, given, settings
from opentelemetry import trace

from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.model.calls import ChatReply, Embeddings, Prompt, TextCallback, Tokens
from drift.model.graph import Candidates, FollowupQuery
from drift.ports import GraphStore
from tests.contract.random_projects import MARK, SHAPES, VECTORS, Contents, Shape, pair
from tests.fake_service import fake_service
from tests.fakes import Heard, ListSink, allowed, ports
from tests.fakes_graph import FakeGraph
from tests.security.prompt_reading import tags
from tests.telemetry_fixture import Recorded

OWN = "My own "
"""What the first tenant's titles and descriptions begin with; the other's begin with MARK."""
REQUESTS_EACH = 2


def marked(contents: Contents, mark: str) -> Contents:
    """Return the project with its mark on all that is not text of a chunk.

    Those are the same in both.
    """
    documents, knowledge = contents.documents, contents.knowledge
    return Contents(
        replace(
            documents,
            documents=tuple(replace(d, title=mark + d.title) for d in documents.documents),
        ),
        replace(
            knowledge,
            entities=tuple(
                replace(e, description=mark + e.description) for e in knowledge.entities
            ),
            relations=tuple(
                replace(r, description=mark + r.description) for r in knowledge.relations
            ),
            communities=tuple(replace(c, summary=mark + c.summary) for c in knowledge.communities),
        ),
    )


# ---------------------------------------------------------------------- a model that repeats it all
_WORD = re.compile(r"\w+")
"""Words alone make one sentence, which one number bears out."""


class Parrot:
    """ChatModel and Embedder: replies hold what the prompt has shown.

    `heard` is all it was told, by the tenant asked for.

    Each call lets the other requests go first, as a network does.
    """

    longest_prompt: int | None = None

    def __init__(self) -> None:
        self.heard: defaultdict[str, list[str]] = defaultdict(list)

    async def complete(
        self, prompt: Prompt, deadline: Deadline, hear: TextCallback | None = None
    ) -> ChatReply:
        del hear
        deadline.require()
        await asyncio.sleep(0)
        shown = tags(prompt.user)
        self.heard[tenant_in(prompt.user)].append(prompt.user)
        words = prompt.user
        chunks = shown["chunks"].rows if "chunks" in shown else ()
        ids = [{"chunk_id": c.attributes["id"], "sentences": "1", "words": ""} for c in chunks]
        whom = f"of {tenant_in(prompt.user)}: what has alder birch to do with {len(prompt.user)}?"
        followups = [{"question": f"{n} {whom}", "target_communities": ["C1"]} for n in range(2)]
        alone = {
            "citations": ids,
            "verdict": "partly",
            "answer": words,
            "confidence": 0.5,
            "new_followups": followups[:1],
        }
        asked = shown["followups"].rows if "followups" in shown else ()
        replies: Mapping[str, object] = {
            "hypothesis": words,
            "rag_answer": words,
            "primer_reply": {"initial_answer": words, "followups": followups},
            "local_reply": alone,
            "joint_reply": {
                "answers": [{"followup": one.attributes.get("id"), **alone} for one in asked]
            },
            "aggregate_reply": {
                "verdict": "answered",
                "sentences": [[" ".join(_WORD.findall(words)), 1]],
                "residual_uncertainty": words,
            },
        }
        reply = replies[prompt.name]
        return ChatReply(reply if isinstance(reply, str) else json.dumps(reply), Tokens(1, 1))

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        deadline.require()
        await asyncio.sleep(0)
        for text in texts:
            self.heard[tenant_in(text)].append(text)
        return Embeddings(tuple(VECTORS[len(text) % len(VECTORS)] for text in texts))


def question(tenant: str) -> str:
    """Return a question that says whose it is."""
    return f"What has the alder birch to do with cedar and zephyr, asked for <{tenant}>?"


def tenant_in(text: str) -> str:
    """Return whose question a text belongs to."""
    return "mine" if "for <mine>" in text or "of mine:" in text else "other"


# ----------------------------------------------------------------------------------- what comes out
@dataclass
class Seen:
    """Everything that belongs to one tenant, by where it was seen."""

    texts: list[tuple[str, str]] = field(default_factory=list)

    def holding(self, mark: str) -> set[str]:
        """Return where a mark was seen."""
        return {where for where, text in self.texts if mark in text}


async def asked(
    graph: GraphStore,
    ids: Mapping[str, str],
    log: io.StringIO,
    recorded: Recorded,
    followups: int = 4,
) -> dict[str, Seen]:
    """Ask for both tenants at once, several times, buffered and listened to.

    Return what each has left where.
    """
    parrot, sink = Parrot(), ListSink()
    service = fake_service(
        ports(graph, parrot, parrot), sink, MAX_FOLLOWUPS=followups, LOG_QUESTIONS=True
    )
    seen = {tenant: Seen() for tenant in ids}

    async def ask(tenant: str) -> None:
        request = ProjectRequest(
            query=question(tenant), project_id=ids[tenant], top_k=4, include=("trace", "usage")
        )
        listened = Heard()
        with trace.get_tracer("test").start_as_current_span(f"request of {tenant}"):
            answering = await service.start(
                allowed(request.project_id), request, str(uuid.uuid4()), listened
            )
            answer = await answering
        seen[tenant].texts += [
            ("answer and trace", answer.to_json()),
            ("answer and trace", listened.text),
            *(("progress", m) for m in listened.messages),
        ]

    log.seek(0)
    log.truncate()
    recorded.exporter.clear()
    async with asyncio.TaskGroup() as group:
        for _ in range(REQUESTS_EACH):
            for tenant in ids:
                group.create_task(ask(tenant))
    for tenant, id_ in ids.items():
        own = [
            line
            for line in log.getvalue().splitlines()
            if json.loads(line).get("project_id") == id_
        ]
        published = [json.dumps(m) for m in sink.messages if m["project_id"] == id_]
        roots = {s.context.trace_id for s in recorded.spans(f"request of {tenant}")}
        spans = [s.to_json() for s in recorded.spans() if s.context.trace_id in roots]
        kept = {"prompt": parrot.heard[tenant], "log": own, "published": published, "span": spans}
        seen[tenant].texts += [(where, text) for where, texts in kept.items() for text in texts]
    return seen


class LogText:
    """The log lines of the service, as a plain handler writes them."""

    def __enter__(self) -> io.StringIO:
        self.text = io.StringIO()
        self._handler, log = logging.StreamHandler(self.text), logging.getLogger("drift")
        self._level = log.level
        log.addHandler(self._handler)
        log.setLevel(logging.DEBUG)
        return self.text

    def __exit__(self, *_: object) -> None:
        logging.getLogger("drift").removeHandler(self._handler)
        logging.getLogger("drift").setLevel(self._level)


EVERYWHERE = {"answer and trace", "progress", "prompt", "log", "published", "span"}


def assert_apart(seen: dict[str, Seen]) -> None:
    """Check that neither mark is where the other tenant's things are."""
    assert {where for where, _ in seen["mine"].texts} == EVERYWHERE
    assert seen["mine"].holding(MARK) == set()
    assert seen["other"].holding(OWN) == set()


async def in_memory(graph: FakeGraph, contents: Mapping[str, Contents]) -> None:
    for id_, one in contents.items():
        await graph.write_documents(id_, one.documents)
        await graph.write_knowledge(id_, one.knowledge)


def drawn(shape: Shape) -> tuple[Contents, Contents]:
    """Return a pair, each with its mark."""
    mine, other = pair(shape)
    return marked(mine, OWN), other


# ---------------------------------------------------------------------------------------- in memory
SAMPLE = Shape(seed=7, chunks=12, entities=8, levels=2, hub=True)


class Leaking(FakeGraph):
    """A graph that mixes what two tenants get."""

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        both = [
            await FakeGraph.followup(self, replace(query, project_id=p), deadline)
            for p in self.projects
        ]
        return Candidates(both[0].chunks + both[1].chunks)


async def test_a_leak_would_be_seen_wherever_words_can_be(recorded: Recorded) -> None:
    mine, other = drawn(SAMPLE)
    graph = Leaking()
    await in_memory(graph, {"p": mine, "p-b": other})
    with LogText() as log:
        seen = await asked(graph, {"mine": "p", "other": "p-b"}, log, recorded)
    assert seen["mine"].holding(OWN) >= {"answer and trace", "progress", "published", "prompt"}
    assert seen["mine"].holding(MARK) >= {"answer and trace", "progress", "published", "prompt"}
    assert seen["other"].holding(OWN) >= {"answer and trace", "prompt"}


def test_look_alike_projects_stay_apart_on_the_whole_way(recorded: Recorded) -> None:
    met: set[str] = set()
    with asyncio.Runner() as runner, LogText() as log:

        @settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
        @given(SHAPES)
        def are_apart(shape: Shape) -> None:
            mine, other = drawn(shape)
            graph = FakeGraph()
            runner.run(in_memory(graph, {"p": mine, "p-b": other}))
            seen = runner.run(asked(graph, {"mine": "p", "other": "p-b"}, log, recorded))
            assert_apart(seen)
            met.update(
                *(one.holding(mark) for one, mark in ((seen["mine"], OWN), (seen["other"], MARK)))
            )

        are_apart()
    assert met >= {"answer and trace", "progress", "published", "prompt"}, (
        "their own words were there"
    )
