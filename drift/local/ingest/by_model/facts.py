"""Facts: the names that a model reads in chunks and what is said of them, checked by their text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from drift.contracts.strict_schema import strict_schema
from drift.core.errors import UnusableReplyError
from drift.evidence.sentences import sentences
from drift.graph.writing.records import ChunkRecord
from drift.graph.writing.rows import in_groups
from drift.local.ingest.by_model.asking import Asking, PlannedCall
from drift.local.ingest.by_model.fact_checks import ChunkFacts, FactsReply, checked
from drift.local.ingest.by_model.replies import Replies, part_of
from drift.local.ingest.prose import has_prose
from drift.model.calls import Prompt
from drift.prompting.markup import element, indented, on_line
from drift.prompting.rules import DATA_RULE

KIND = "facts/2"
CHUNKS_A_CALL, CHARACTERS_A_CALL = 24, 24_000
"""About 6,000 tokens; the rules of a call are 600 more."""
REPLY_SHARE = 0.4
"""Tokens of a reply for each of the passages that it is about."""

SYSTEM = f"""You read passages of documents and note what they say of whom and of what.

You get `<chunk>`: a passage. Each of its sentences begins with its number and "|".

- `entities`: the persons, organisations, places, works, products, events and technical terms by
  name that a reader would look up, and what a rule or a figure is about ("refund", "notice
  period"). None that stands only in a list of links or of literature, no addresses, no dates, no
  numbers, no numbered statements such as "Lemma 2". `name` is the fullest name that stands in the
  passages, letter for letter, without a form of address such as "Dr."; `type` one word; `also` the
  other names that the passages use for it, letter for letter.
- `facts`: what one sentence says of an entity: a figure with what it measures, a rule with all of
  its conditions, a date, what one entity is or did to another. `subject`, `predicate` and `object`
  read as a sentence in this order, in the sentence's own direction. Subject, object or both are the
  `name` of an entity that the sentence names; where it says he, she, it or they instead, the
  sentence before names that entity and no other. What is no entity is copied from the sentence
  letter for letter: "within 14 days of purchase". The predicate, at most twelve words, keeps what
  limits it: "allegedly", "may", "not", "planned", "until 2019". `at` is the place of the sentence,
  "K3.4" for sentence 4 of chunk K3. Note what lasts and would be told to somebody who asks, at
  most two a sentence, the same once. That somebody speaks, looks or stands beside another is none.

{DATA_RULE}
Return JSON: {{"entities": [{{"name", "type", "also"}}],
"facts": [{{"subject", "predicate", "object", "at"}}]}}"""


@dataclass(slots=True)
class Facts:
    """Reads the facts of a project's chunks, those that are kept already at no cost."""

    replies: Replies

    def told(self, chunks: Sequence[ChunkRecord]) -> dict[str, ChunkFacts]:
        """Return the facts of the chunks that were read, by the chunk's id.

        Of one without a sentence nothing is asked: it has none.
        """
        found = {}
        for chunk in chunks:
            if not has_prose(chunk):
                found[chunk.id] = ChunkFacts()
                continue
            kept = self.replies.find(KIND, [part_of(chunk.text)])
            if kept is not None:
                found[chunk.id] = ChunkFacts.model_validate_json(kept or "{}")
        return found

    def calls(self, chunks: Sequence[ChunkRecord], asking: Asking) -> Iterator[PlannedCall]:
        """Yield the calls that read these chunks, each text once, in their order."""
        each = {part_of(chunk.text): chunk for chunk in chunks}.values()
        for batch in in_groups(each, lambda one: len(one.text), CHARACTERS_A_CALL, CHUNKS_A_CALL):
            yield PlannedCall(partial(_prompt, batch), partial(self._ask, asking, batch))

    async def _ask(self, asking: Asking, batch: Sequence[ChunkRecord]) -> None:
        """Ask of a batch; where the reply is cut or cannot be read, of each half of it."""
        prompt = _prompt(batch)
        try:
            replied = await asking.ask(prompt, FactsReply, int(len(prompt.user) / 4 * REPLY_SHARE))
        except UnusableReplyError:
            if len(batch) > 1:
                half = len(batch) // 2
                await self._ask(asking, batch[:half])
                await self._ask(asking, batch[half:])
                return
            asking.unusable += 1
            await self.replies.add(KIND, [([part_of(batch[0].text)], "")], 0)
            return

        if replied is not None:
            reply, tokens = replied
            made = zip(batch, checked(reply, _numbered(batch)), strict=True)
            kept = [([part_of(chunk.text)], facts.model_dump_json()) for chunk, facts in made]
            await self.replies.add(KIND, kept, tokens)


def _numbered(batch: Sequence[ChunkRecord]) -> list[Sequence[str]]:
    return [sentences(chunk.text) for chunk in batch]


def _prompt(batch: Sequence[ChunkRecord]) -> Prompt:
    passages = "\n".join(
        element(
            "chunk",
            "\n".join(f"{n}| {indented(sentence)}" for n, sentence in enumerate(told, 1)),
            id=f"K{number}",
            document=chunk.title,
            heading=on_line(chunk.heading)[:200],
        )
        for number, (chunk, told) in enumerate(zip(batch, _numbered(batch), strict=True), 1)
    )
    return Prompt("facts_reply", SYSTEM, passages, strict_schema(FactsReply))
