"""Reports: what a model says is in a topic, then in a group of topics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

from drift.contracts.lenient import at_most, first, text, without_nulls
from drift.contracts.strict_schema import strict_schema
from drift.core.errors import UnusableReplyError
from drift.core.sentence_ends import split_sentences
from drift.evidence.near_duplicates import near_duplicates
from drift.graph.writing.records import ChunkRecord, CommunityRecord
from drift.local.ingest.by_model.asking import Asking, Build, PlannedCall
from drift.local.ingest.by_model.borne_out import PRONOUNS, Shown
from drift.local.ingest.by_model.replies import Replies, part_of
from drift.local.ingest.communities import by_parent
from drift.local.ingest.prose import has_prose
from drift.model.calls import Prompt
from drift.prompting.markup import element, on_line, plain
from drift.prompting.rules import DATA_RULE
from drift.prompting.tokens import cut

KINDS = ("report/2", "group/2")
"""What a report is kept as, of a topic and of a group; the number is that of its prompt."""

SHOWN_CHARACTERS = 10_000
"""Of a topic's chunks: about 2,500 tokens."""
LEAST_CHARACTERS = 300
"""Of a passage: less of it says nothing."""
MOST_OF_A_GROUP = 40
REPLY_TOKENS = 160
"""As readers in the place of a model took for a report on a topic."""
_MOST_QUESTIONS = 3

_BLANK = re.compile(r"\n\s*\n")

_Said = Annotated[str, StringConstraints(strip_whitespace=True), BeforeValidator(text)]
_Question = Annotated[_Said, at_most(300)]


class ReportReply(BaseModel):
    """A report; without a summary the passages tell nothing."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    title: Annotated[_Said, at_most(120)]
    summary: Annotated[_Said, at_most(1_200)]
    questions: Annotated[
        list[_Question], first(_MOST_QUESTIONS), BeforeValidator(without_nulls)
    ] = []


_SHAPE = f"""- `title`: at most twelve words that tell these from other parts of the same
  documents; only names have capitals.
- `summary`: at most eighty words, in whole sentences. First what it is about as a whole, then the
  persons, places, works, numbers and dates that are told most of. Begin with the subject itself,
  never with "These passages".
- `questions`: up to three questions that they answer best, each understood alone.

Write names, numbers and dates as they stand there. A sentence with one that does not stand there,
or with a time such as "last year", "recently" or "today", is taken out.

{DATA_RULE}
Return JSON: {{"title": "...", "summary": "...", "questions": ["..."]}}"""

TOPIC_SYSTEM = f"""You describe passages of documents that are about much the same.

You get `<chunk>`: a passage, with the name of its document and the headings above it.
Say what can be found in them, for somebody who has to decide whether to read them. Use what they
say and nothing else. Write in the language of most of them. Leave out menus, advertising, what a
page or catalogue says of itself, text that cannot be read, and the few passages that have nothing
to do with the others. Where they are about two things, describe both.
Where three of four have nothing but that, `title` and `summary` are "", and `questions` is [].

{_SHAPE}"""

GROUP_SYSTEM = f"""You describe a part of a collection of documents.

You get `<community>`: what was said of one group of its passages. All of them make up the part.
Say what can be found in it, for somebody who has to decide whether to read it. Use what they say
and nothing else. Write in the language of most of them. Tell what several of them share before
what one of them tells alone, and the same thing once.

{_SHAPE}"""


@dataclass(slots=True)
class Reports:
    """Writes the reports of a project's communities, those that are kept already at no cost."""

    chunks: Mapping[str, ChunkRecord]
    replies: Replies

    def told(self, communities: Sequence[CommunityRecord]) -> dict[int, CommunityRecord]:
        """Return the communities that a report is kept of, with what it says."""
        below = by_parent((one, one.parent) for one in communities)
        found: dict[int, CommunityRecord] = {}
        for community in communities:
            members = self._members(community, below)
            reply = self.replies.find(KINDS[min(community.level, 1)], map(part_of, members))
            if reply is not None:
                found[community.community] = _with_report(community, reply)
        return found

    def topics(
        self, communities: Sequence[CommunityRecord], asking: Asking, lacking: set[int]
    ) -> Iterator[PlannedCall]:
        """Yield the calls for topics without a report, the largest first."""
        topics = [one for one in communities if not one.level and one.community in lacking]
        for topic in sorted(topics, key=lambda one: -len(one.chunk_ids)):
            chunks = [self.chunks[id_] for id_ in topic.chunk_ids]
            parts = [part_of(chunk.text) for chunk in chunks]
            build = partial(_topic_prompt, chunks)
            shown = (f"{one.title}\n{one.heading}\n{one.text}" for one in chunks)
            yield PlannedCall(build, partial(self._ask, asking, KINDS[0], parts, build, shown))

    def groups(
        self, communities: Sequence[CommunityRecord], asking: Asking, lacking: set[int], level: int
    ) -> Iterator[PlannedCall]:
        """Yield the calls for communities of a level above the topics, from what is below them."""
        below = by_parent((one, one.parent) for one in communities)
        for group in communities:
            if group.level != level or group.community not in lacking:
                continue
            parts = [part_of(one) for one in self._members(group, below)]
            own = below.get(group.community, ())
            build = partial(_group_prompt, own)
            ask = partial(self._ask, asking, KINDS[1], parts, build, map(_told, own))
            yield PlannedCall(build, ask)

    async def _ask(
        self,
        asking: Asking,
        kind: str,
        parts: Sequence[str],
        build: Build,
        shown: Iterable[str],
    ) -> None:
        try:
            replied = await asking.ask(build(), ReportReply, REPLY_TOKENS)
        except UnusableReplyError:
            # Kept as a reply that says nothing: the same passages are not paid for again.
            asking.unusable += 1
            await self.replies.add(kind, [(parts, "")], 0)
            return
        if replied is not None:
            report, tokens = replied
            told = _borne_out(report, shown) if report.title else ""
            await self.replies.add(kind, [(parts, told)], tokens)

    def _members(
        self, community: CommunityRecord, below: Mapping[int, Sequence[CommunityRecord]]
    ) -> list[str]:
        texts = [self.chunks[id_].text for id_ in community.chunk_ids]
        for part in below.get(community.community, ()):
            texts += self._members(part, below)
        return texts


def _topic_prompt(chunks: Sequence[ChunkRecord]) -> Prompt:
    return Prompt("report_reply", TOPIC_SYSTEM, _passages(chunks), strict_schema(ReportReply))


def _group_prompt(below: Sequence[CommunityRecord]) -> Prompt:
    largest = sorted(below, key=lambda one: -len(one.chunk_ids))[:MOST_OF_A_GROUP]
    told = "\n".join(element("community", plain(_told(one))) for one in largest)
    return Prompt("report_reply", GROUP_SYSTEM, told, strict_schema(ReportReply))


def _passages(chunks: Sequence[ChunkRecord]) -> str:
    """Return a topic's chunks to be read, of its documents in turns, without near duplicates."""
    of_documents: dict[str, list[ChunkRecord]] = {}
    told = [chunk for chunk in chunks if has_prose(chunk)]
    repeats = near_duplicates(chunk.text for chunk in told)
    for chunk in (chunk for chunk, is_told in zip(told, repeats, strict=True) if not is_told):
        of_documents.setdefault(chunk.document_id, []).append(chunk)

    shown: list[tuple[ChunkRecord, str]] = []
    left = SHOWN_CHARACTERS
    for turn in zip_longest(*of_documents.values()):
        for chunk in filter(None, turn):
            if left >= LEAST_CHARACTERS:
                body = cut(plain(_BLANK.sub("\n\n", chunk.text.strip())), left)
                shown.append((chunk, body))
                left -= len(body)

    shown.sort(key=lambda one: (one[0].document_id, one[0].ordinal))
    return "\n".join(
        element("chunk", body, document=chunk.title, heading=on_line(chunk.heading)[:200])
        for chunk, body in shown
    )


def _told(community: CommunityRecord) -> str:
    """Return what the report above a community is made of, and held to."""
    return f"{community.title}\n{community.summary}"


def _with_report(community: CommunityRecord, reply: str) -> CommunityRecord:
    """Return a community with its report in place of its extracted summary.

    The names of its documents stay: they stand on a line of their own in that summary. A reply
    that was of no use, or of which no sentence is left, changes nothing.
    """
    if not reply:
        return community

    report = ReportReply.model_validate_json(reply)
    documents = [line for line in community.summary.split("\n") if line.startswith("Documents: ")]
    asked = " ".join(report.questions)
    lines = (report.summary, f"Answers: {asked}" if asked else "", *documents)
    title = report.title or community.title
    return replace(community, title=title, summary="\n".join(filter(None, lines)))


def _borne_out(report: ReportReply, shown: Iterable[str]) -> str:
    """Return what passages bear out of a report, as it is kept; empty without a sentence."""
    passages = Shown(shown, (report.title, report.summary, *report.questions))
    summary = " ".join(_sentences_borne_out(report.summary, passages))
    if not summary:
        return ""
    title = report.title if passages.bear_out(report.title) else ""
    asked = [*filter(passages.bear_out, report.questions)]
    return ReportReply(title=title, summary=summary, questions=asked).model_dump_json()


def _sentences_borne_out(summary: str, passages: Shown) -> Iterator[str]:
    """Yield the sentences that passages bear out.

    None whose "it" was told of in one that goes, and no last sentence that was cut off.
    """
    pieces = [" ".join(piece.split()) for piece in split_sentences(summary)]
    if len(pieces) > 1 and pieces[-1][-1:] not in '.!?。！？"”)':
        del pieces[-1]
    stays = True
    for sentence in pieces:
        leans = sentence.split(maxsplit=1)[0].casefold() in PRONOUNS
        stays = (stays or not leans) and passages.bear_out(sentence)
        if stays:
            yield sentence
