"""Facts: the entities and relations that a model reads in chunks, checked against their text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from drift.contracts.lenient import at_most, first, text, without_nulls
from drift.contracts.strict_schema import strict_schema
from drift.core.errors import UnusableReplyError
from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.sentences import sentences
from drift.graph.writing.records import ChunkRecord
from drift.graph.writing.rows import in_groups
from drift.local.ingest.by_model.asking import Asking, Work
from drift.local.ingest.by_model.replies import Replies, part_of
from drift.local.ingest.prose import has_prose
from drift.model.calls import Prompt
from drift.prompting.markup import element, indented, on_line
from drift.prompting.prompts import DATA_RULE

KIND = "facts/1"
CHUNKS_A_CALL, CHARACTERS_A_CALL = 24, 24_000
"""About 6,000 tokens; the rules of a call are 400 more."""
SYSTEM_TOKENS = 400
REPLY_SHARE = 0.4
"""Tokens of a reply for each of the chunks."""
MOST_READ = 600
"""Entities, and relations, that are read of one reply."""

_PRONOUNS = frozenset(
    (
        *("he", "she", "it", "they", "him", "them", "his", "hers", "her", "its", "their", "theirs"),
        *("who", "which"),
        *("er", "sie", "es", "ihn", "ihm", "ihr", "ihnen", "sein", "seine", "seinen", "ihre"),
        *("il", "elle", "ils", "elles", "lui", "leur", "él", "ella", "ellos", "ellas", "su"),
    )
)
"""Words that may stand for one end of a relation in its sentence."""

_Said = Annotated[str, StringConstraints(strip_whitespace=True), BeforeValidator(text)]
_Name = Annotated[_Said, at_most(160)]


class EntityReply(BaseModel):
    """A name as it stands in the text, what kind of thing it names, and how else it is named."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: _Name
    type: Annotated[_Said, at_most(40)] = ""
    also: Annotated[tuple[_Name, ...], first(20), BeforeValidator(without_nulls)] = ()


class RelationReply(BaseModel):
    """What a sentence says of two entities; `at` is its place, "K3.4"."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    source: _Name = Field(alias="from")
    target: _Name = Field(alias="to")
    says: Annotated[_Said, at_most(200)]
    at: Annotated[_Said, at_most(40)]


class FactsReply(BaseModel):
    """What a model read in some chunks; a reply of another shape is none without entities."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    entities: Annotated[list[EntityReply], first(MOST_READ), BeforeValidator(without_nulls)]
    relations: Annotated[list[RelationReply], first(MOST_READ), BeforeValidator(without_nulls)] = []


class Relation(BaseModel):
    """A relation that its sentence bears out."""

    source: str
    target: str
    says: str
    sentence: str


class ChunkFacts(BaseModel):
    """What one chunk holds, as it is kept."""

    entities: list[EntityReply] = []
    relations: list[Relation] = []


SYSTEM = f"""You read passages of documents and note who and what they tell of.

You get `<chunk>`: a passage. Each of its sentences begins with its number and "|".

- `entities`: the persons, organisations, places, works, products, events and technical terms by
  name that a reader would look up. None that stands only in a list of links or of literature, no
  dates, numbers, common nouns, or numbered statements such as "Lemma 2". `name` is the fullest
  name that stands in the passages, letter for letter, without a form of address such as "Dr.";
  `type` one word; `also` the other names that the passages use for it, letter for letter.
- `relations`: what one sentence says of two of these entities. It names both, or one of them and
  says he, she, it or they of the other; whom it means must not be guessed from others. `from` and
  `to` are their `name`; `says` is what stands between them, in at most twelve words, so that "from
  says to" reads as a sentence; `at` is the place of the sentence, "K3.4" for sentence 4 of chunk
  K3. Note what lasts and would be told of one of the two to somebody who asks about it, at most
  two a sentence: "founded", "is the author of", "lies in". That somebody speaks to another, looks
  at them or stands beside them is none, and neither is that two names stand in one sentence.
  Where a passage says the same again, note it once.

{DATA_RULE}
Return JSON: {{"entities": [{{"name", "type", "also"}}],
"relations": [{{"from", "to", "says", "at"}}]}}"""


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
            if not has_prose(chunk.text):
                found[chunk.id] = ChunkFacts()
                continue
            kept = self.replies.find(KIND, [part_of(chunk.text)])
            if kept is not None:
                found[chunk.id] = ChunkFacts.model_validate_json(kept or "{}")
        return found

    def calls(self, chunks: Sequence[ChunkRecord], asking: Asking) -> Iterator[Work]:
        """Yield the calls that read these chunks, each text once, in their order."""
        each = {part_of(chunk.text): chunk for chunk in chunks}.values()
        for batch in in_groups(each, lambda one: len(one.text), CHARACTERS_A_CALL, CHUNKS_A_CALL):
            yield partial(self._ask, asking, batch)

    async def _ask(self, asking: Asking, batch: Sequence[ChunkRecord]) -> None:
        """Ask of a batch; where the reply is cut or cannot be read, of each half of it."""
        numbered = [sentences(chunk.text) for chunk in batch]
        characters = sum(len(chunk.text) for chunk in batch)
        prompt = Prompt(
            "facts_reply", SYSTEM, _passages(batch, numbered), strict_schema(FactsReply)
        )
        try:
            replied = await asking.ask(prompt, FactsReply, int(characters / 4 * REPLY_SHARE))
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
            made = zip(batch, checked(reply, numbered), strict=True)
            kept = [([part_of(chunk.text)], facts.model_dump_json()) for chunk, facts in made]
            await self.replies.add(KIND, kept, tokens)


def _passages(batch: Sequence[ChunkRecord], numbered: Sequence[Sequence[str]]) -> str:
    return "\n".join(
        element(
            "chunk",
            "\n".join(f"{n}| {indented(sentence)}" for n, sentence in enumerate(told, 1)),
            id=f"K{number}",
            document=chunk.title,
            heading=on_line(chunk.heading)[:200],
        )
        for number, (chunk, told) in enumerate(zip(batch, numbered, strict=True), 1)
    )


# --------------------------------------------------------------------------------------- the checks
def checked(reply: FactsReply, numbered: Sequence[Sequence[str]]) -> list[ChunkFacts]:
    """Return what holds of a reply, by chunk; `numbered` are the sentences of each.

    An entity is in a chunk in which one of its names stands letter for letter. A relation's
    sentence holds both ends, or one of them and a pronoun.
    """
    texts = [" ".join(" ".join(told).split()) for told in numbered]
    whole = "\n".join(texts)
    known: dict[str, EntityReply] = {}
    for entity in reply.entities:
        names = [name for name in (entity.name, *entity.also) if _names(name, whole)]
        if names:
            also = tuple(dict.fromkeys(names[1:]))
            held = EntityReply(name=names[0], type=entity.type.casefold(), also=also)
            for name in (entity.name, *names):
                known.setdefault(name, held)

    found = [ChunkFacts() for _ in numbered]
    for held in dict.fromkeys(known.values()):
        for facts, told in zip(found, texts, strict=True):
            if any(_stands(name, told) for name in (held.name, *held.also)):
                facts.entities.append(held)

    for relation in reply.relations:
        _add(relation, known, numbered, found)

    return found


def _add(
    relation: RelationReply,
    known: Mapping[str, EntityReply],
    numbered: Sequence[Sequence[str]],
    found: Sequence[ChunkFacts],
) -> None:
    """Add a relation to its chunk, if its sentence bears it out and the chunk carries no more."""
    source, target = known.get(relation.source), known.get(relation.target)
    place = re.search(r"K?(\d{1,4})\D+(\d{1,4})", relation.at)
    if not (source and target and place and relation.says) or source is target:
        return

    chunk, number = int(place[1]) - 1, int(place[2]) - 1
    if not (0 <= chunk < len(numbered) and 0 <= number < len(numbered[chunk])):
        return
    sentence = " ".join(numbered[chunk][number].split())
    ends = [
        any(_stands(name, sentence) for name in (end.name, *end.also)) for end in (source, target)
    ]
    has_pronoun = not _PRONOUNS.isdisjoint(re.findall(r"\w+", sentence.casefold()))
    carried = found[chunk].relations
    if (all(ends) or (any(ends) and has_pronoun)) and len(carried) < 2 * len(numbered[chunk]):
        carried.append(
            Relation(source=source.name, target=target.name, says=relation.says, sentence=sentence)
        )


def _names(name: str, text: str) -> bool:
    """Tell whether a name names something by itself, and stands in the text."""
    words = name.casefold().split()
    is_name = any(map(str.isalpha, name)) and any(
        word not in STOP_WORDS_OF_FOUR_LANGUAGES and word not in _PRONOUNS for word in words
    )
    return is_name and len(name) > 1 and _stands(name, text)


def _stands(name: str, text: str) -> bool:
    """Tell whether a name stands in a text with single spaces, not as part of a longer word."""
    wanted = " ".join(name.split())
    at = text.find(wanted)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(wanted) : at + len(wanted) + 1]
        joined = (before.isalnum() and wanted[0].isalnum() and before.isascii()) or (
            after.isalnum() and wanted[-1].isalnum() and after.isascii()
        )
        if not joined:
            return True
        at = text.find(wanted, at + 1)
    return False
