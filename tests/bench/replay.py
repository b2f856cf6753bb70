"""A search over recorded exchanges: what its prompts cost, and whether they show what was cited.

A large language model has answered the prompts of another version. Here the same questions are
asked anew with its replies: the graph returns what each recorded prompt showed, and each follow-up
is answered as it was. So a change of the prompts is judged before a model is asked.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.local.evals.questions import JsonLine, read_lines
from drift.local.prompt_elements import element, elements
from drift.model.calls import ChatReply, Embeddings, Prompt, TextCallback
from drift.model.graph import (
    Candidate,
    Candidates,
    Chunk,
    Community,
    FollowupQuery,
    PrimerEvidence,
    PrimerQuery,
    Relationship,
)
from drift.model.limits import Limits
from drift.ports import Ports
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from tests.bench.command import Options, read_options, run, show

_BLOCK = re.compile(r"^([^\n:`]+):\n```json\n(.*)\n```$", re.MULTILINE)
_CHARACTERS_A_SECOND = 20_000
"""How fast recorded replies are written: what is under way together matters, not the seconds."""
_DEADLINE_S = 120.0

Json = dict[str, Any]


@dataclass(slots=True)
class Recorded:
    """What was recorded of one question: the primer's exchange, the follow-ups', the last one."""

    question: str
    primer: tuple[Json, Json] = field(default_factory=lambda: ({}, {}))
    followups: dict[str, tuple[Json, Json]] = field(default_factory=dict)
    aggregate: Json = field(default_factory=dict)


@dataclass(slots=True)
class ReplayFigures:
    """What one question costs now.

    `tokens` are the prompts' characters / 4, of which `followup_tokens` went to `followup_calls`.
    `cited` counts the spans that the recorded answers of the follow-ups cited which were answered
    now, `shown` those of them whose chunk stands in the prompt, or that a settled answer carries.
    `skipped` counts the recorded follow-ups that were not answered now.
    """

    question: str
    tokens: int = 0
    followup_tokens: int = 0
    followup_calls: int = 0
    cited: int = 0
    shown: int = 0
    skipped: int = 0


class _Exchange(JsonLine):
    schema_: str | None = Field(alias="schema")
    user: str
    reply: str


def read_exchanges(path: Path) -> list[Recorded]:
    """Return the recorded searches of a file of `{schema, user, reply}`, one exchange a line."""
    searches: dict[str, Recorded] = {}
    for exchange in read_lines(path, _Exchange):
        given = {label: json.loads(data) for label, data in _BLOCK.findall(exchange.user)}
        question = given.get("User question")
        if not exchange.schema_ or question is None:
            continue

        text = exchange.reply
        reply: Json = json.loads(text[text.index("{") : text.rindex("}") + 1])
        recorded = searches.setdefault(question, Recorded(question))
        if exchange.schema_ == "primer_reply":
            recorded.primer = (given, reply)
        elif exchange.schema_ == "local_reply":
            recorded.followups[given["Follow-up question"]] = (given, reply)
        else:
            recorded.aggregate = reply
    return list(searches.values())


async def replay(recorded: Recorded, limits: Limits) -> ReplayFigures:
    """Search with the recorded replies, and return what was sent and shown."""
    model = _RecordedModel(recorded)
    search = DriftSearch(Ports(_RecordedGraph(recorded), model, _NoEmbedder()), limits)
    request = ProjectRequest(project_id="replay", query=recorded.question)
    async with Progress("replay", "replay", None) as progress:
        await search.retrieve(request, progress, Deadline.after(_DEADLINE_S))

    figures = model.figures
    figures.skipped = len(recorded.followups) - len(model.answered)
    return figures


class _RecordedGraph:
    """GraphStore: what the recorded prompts showed."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded

    async def has_topics(self, _project_id: str, _deadline: Deadline) -> bool:
        return False

    async def primer(self, _query: PrimerQuery, _deadline: Deadline) -> PrimerEvidence:
        given, _ = self._recorded.primer
        samples: dict[str, list[Chunk]] = defaultdict(list)
        for row in given["Sample chunks"]:
            samples[row.get("community")].append(_chunk(row))
        communities = [
            Community(
                row["id"], row.get("level"), row["summary"], samples=tuple(samples[row["id"]])
            )
            for row in given["Community details"]
        ]
        return PrimerEvidence(tuple(communities))

    async def followup(self, query: FollowupQuery, _deadline: Deadline) -> Candidates:
        given, _ = self._recorded.followups.get(query.question, ({}, {}))
        beside = given.get("Graph neighbourhood", {})
        # each is half as close as the one before, so that no rule of the ranking reorders them
        chunks = [
            Candidate(_chunk(row), similarity=0.5 + 0.5**place)
            for place, row in enumerate(given.get("Retrieved chunks", ()), start=1)
        ]
        relationships = [
            Relationship(row["source"], row["target"], row["description"])
            for row in beside.get("relationships", ())
        ]
        return Candidates(tuple(chunks), tuple(relationships))


def _chunk(row: Json) -> Chunk:
    return Chunk(row["text"], row["text"], row["document"])


class _NoEmbedder:
    """Embedder: the recorded graph looks at no vector."""

    async def embed(self, texts: Sequence[str], _deadline: Deadline) -> Embeddings:
        return Embeddings(tuple((1.0,) for _ in texts))


class _RecordedModel:
    """ChatModel: what was replied to the same question, with the handles of the prompt at hand."""

    longest_prompt: int | None = None

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self.figures = ReplayFigures(recorded.question)
        self.answered: set[str] = set()

    async def complete(
        self, prompt: Prompt, _deadline: Deadline, _hear: TextCallback | None = None
    ) -> ChatReply:
        tokens = (len(prompt.system) + len(prompt.user)) // 4
        self.figures.tokens += tokens
        if prompt.name in {"local_reply", "joint_reply"}:
            self.figures.followup_tokens += tokens
            self.figures.followup_calls += 1

        text = json.dumps(self._reply(prompt.name, prompt.user))
        await asyncio.sleep(len(text) / _CHARACTERS_A_SECOND)
        return ChatReply(text)

    def _reply(self, name: str, user: str) -> Json | str:
        if name == "hypothesis":
            return "A paragraph."
        if name == "primer_reply":
            _, primer = self._recorded.primer
            return primer
        if name == "aggregate_reply":
            return self._recorded.aggregate

        asked = elements(element(user, "followups").content, "followup")
        if name == "local_reply":
            return self._answer(asked[0].content, user)
        return {
            "answers": [{"followup": one["id"], **self._answer(one.content, user)} for one in asked]
        }

    def _answer(self, question: str, user: str) -> Json:
        """Return the recorded answer, and count which of its spans can be cited from this prompt.

        One that cites nothing from here is asked again with other chunks, and counted then.
        """
        before, reply = self._recorded.followups[question]
        texts = {row["id"]: row["text"] for row in before["Retrieved chunks"]}
        shown = {
            _letters("".join(c.sentences().values())): c["id"] for c in elements(user, "chunk")
        }
        settled = {
            _letters(span): handle.split(".")[0]
            for row in elements(element(user, "asked").content, "followup")
            for handle, _, span in (line.partition(" ") for line in row.lines()[2:])
            if span
        }

        citations = []
        for citation in reply["citations"]:
            text, span = _letters(texts.get(citation["chunk_id"], "")), citation["span"]
            if handle := shown.get(text) or settled.get(_letters(span)):
                citations.append({"chunk_id": handle, "span": span})

        if question not in self.answered or citations:
            self.figures.cited += 0 if question in self.answered else len(reply["citations"])
            self.figures.shown += len(citations)
        self.answered.add(question)
        return {**reply, "citations": citations}


def _letters(text: str) -> str:
    """Return a text without white space, which a prompt may change."""
    return "".join(text.split())


async def bench(asked: Options) -> None:
    """Tell what each recorded search costs now."""
    limits = Limits(max_followups_per_prompt=asked.together, max_prompt_tokens=asked.tokens)
    figures = [await replay(one, limits) for one in read_exchanges(asked.exchanges)]
    show([asdict(one) for one in figures], asked)


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            exchanges=(Path, "recorded calls, a line each: {schema, user, reply}"),
            together=(4, "MAX_FOLLOWUPS_PER_PROMPT"),
            tokens=(16_000, "MAX_PROMPT_TOKENS"),
        ),
    )
