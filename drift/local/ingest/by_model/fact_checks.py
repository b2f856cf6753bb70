"""Pure: what a model replies of names and facts, and which of it the passages bear out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

from drift.contracts.lenient import at_most, first, text, without_nulls
from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.local.ingest.by_model.borne_out import PRONOUNS, Shown

MOST_READ = 600
"""Entities, and facts, that are read of one reply."""

_LIMIT = re.compile(
    r"\b(?:allegedly|reportedly|supposedly|apparently|claim(?:s|ed)|rumou?red|could|might|planned"
    r"|plans|propos\w+|intend\w*|expected|unless|until|except|only|(?-i:may)"
    r"|angeblich|mutmaßlich|könnte\w*|geplant|soll(?:en|te\w*)?|außer|bis|nur"
    r"|prétendument|pourrait|prévue?s?|sauf|seulement"
    r"|presuntamente|podría\w*|previst[oa]s?|salvo|hasta|sólo|solo"
    r"|not|never|no|without|nicht|nie|kein\w*|ohne|pas|jamais|aucune?|sans|nunca|sin)\b|n't\b",
    re.IGNORECASE,
)
"""Words without which a sentence would say something else."""
_ADDRESS = re.compile(r"\w+://|www\.", re.IGNORECASE)

_Said = Annotated[str, StringConstraints(strip_whitespace=True), BeforeValidator(text)]
_Name = Annotated[_Said, at_most(160)]


class EntityReply(BaseModel):
    """A name as it stands in the text, what kind of thing it names, and how else it is named."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: _Name
    type: Annotated[_Said, at_most(40)] = ""
    also: Annotated[tuple[_Name, ...], first(20), BeforeValidator(without_nulls)] = ()


class FactReply(BaseModel):
    """What a sentence says of an entity; `at` is its place, "K3.4"."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    subject: Annotated[_Said, at_most(200)]
    predicate: Annotated[_Said, at_most(200)]
    object: Annotated[_Said, at_most(200)]
    at: Annotated[_Said, at_most(40)]


class FactsReply(BaseModel):
    """What a model read in some chunks; a reply of another shape is none without entities."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    entities: Annotated[list[EntityReply], first(MOST_READ), BeforeValidator(without_nulls)]
    facts: Annotated[list[FactReply], first(MOST_READ), BeforeValidator(without_nulls)] = []


class ToldFact(BaseModel):
    """What a sentence says; its subject, its object or both are names of entities."""

    subject: str
    predicate: str
    object: str
    sentence: str


class ChunkFacts(BaseModel):
    """What one chunk holds, as it is kept."""

    entities: list[EntityReply] = []
    facts: list[ToldFact] = []


def checked(reply: FactsReply, numbered: Sequence[Sequence[str]]) -> list[ChunkFacts]:
    """Return what holds of a reply, by chunk; `numbered` are the sentences of each.

    An entity is in a chunk in which one of its names stands letter for letter.
    """
    told = [[" ".join(sentence.split()) for sentence in one] for one in numbered]
    texts = [" ".join(one) for one in told]
    whole = "\n".join(texts)
    known: dict[str, EntityReply] = {}
    for entity in reply.entities:
        names = [name for name in (entity.name, *entity.also) if _names(name, whole)]
        if names:
            also = tuple(dict.fromkeys(names[1:]))
            held = EntityReply(name=names[0], type=entity.type.casefold(), also=also)
            for name in (entity.name, *names):
                known.setdefault(name, held)

    found = [ChunkFacts() for _ in told]
    for held in dict.fromkeys(known.values()):
        for facts, said in zip(found, texts, strict=True):
            if _is_named(held, said):
                facts.entities.append(held)

    for fact in reply.facts:
        _add(fact, known, told, found)

    return found


def _add(
    reply: FactReply,
    known: Mapping[str, EntityReply],
    told: Sequence[Sequence[str]],
    found: Sequence[ChunkFacts],
) -> None:
    """Add a fact to its chunk, if its sentence bears it out and the chunk carries no more."""
    place = re.search(r"K?(\d{1,4})\D+(\d{1,4})", reply.at)
    chunk, number = (int(place[1]) - 1, int(place[2]) - 1) if place else (-1, -1)
    if not (0 <= chunk < len(told) and 0 <= number < len(told[chunk])):
        return

    carried, sentence = found[chunk], told[chunk][number]
    before = told[chunk][number - 1] if number else ""
    ends = [(known.get(name), name) for name in (reply.subject, reply.object)]
    entities = [entity for entity, _ in ends if entity]
    places = [_place(sentence, entity, name) for entity, name in ends]
    absent = [entity for (entity, _), at in zip(ends, places, strict=True) if at < 0]
    if absent:
        words = re.findall(r"\w+", sentence.casefold())
        meant = [one for one in carried.entities if _is_named(one, before)]
        if PRONOUNS.isdisjoint(words) or len(absent) > 1 or absent != meant:
            return
    if not (entities and reply.predicate) or ends[0][0] is ends[1][0]:
        return

    said = f"{reply.subject} {reply.predicate} {reply.object}"
    last = max(at + len(name) for at, (_, name) in zip(places, ends, strict=True))
    names = (name for entity, name in ends if entity)
    if (
        _found(_LIMIT, sentence[:last]) <= _found(_LIMIT, said)
        and Shown([sentence, *names]).has_all_of(said)
        and len(carried.facts) < 2 * len(told[chunk])
    ):
        subject, object_ = (entity.name if entity else name for entity, name in ends)
        carried.facts.append(
            ToldFact(subject=subject, predicate=reply.predicate, object=object_, sentence=sentence)
        )


def _found(words: re.Pattern[str], text: str) -> frozenset[str]:
    text = text.replace("’", "'")
    return frozenset(found[0].casefold() for found in words.finditer(text))


def _place(sentence: str, entity: EntityReply | None, said: str) -> int:
    """Return where one end of a fact stands in its sentence; -1 for nowhere."""
    if entity:
        found = (_place_of(name, sentence) for name in (entity.name, *entity.also))
        return min((at for at in found if at >= 0), default=-1)
    return _place_of(said.casefold(), sentence.casefold()) if said.split() else -1


def _is_named(entity: EntityReply, text: str) -> bool:
    return _place(text, entity, "") >= 0


def _names(name: str, text: str) -> bool:
    """Tell whether a name names something by itself, no address, and stands in the text."""
    words = name.casefold().split()
    is_name = any(map(str.isalpha, name)) and any(
        word not in STOP_WORDS_OF_FOUR_LANGUAGES and word not in PRONOUNS for word in words
    )
    return is_name and len(name) > 1 and not _ADDRESS.match(name) and _place_of(name, text) >= 0


def _place_of(name: str, text: str) -> int:
    """Return where a name stands in a text with single spaces, not in a longer word; else -1."""
    wanted = " ".join(name.split())
    at = text.find(wanted)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(wanted) : at + len(wanted) + 1]
        joined = (before.isalnum() and wanted[0].isalnum() and before.isascii()) or (
            after.isalnum() and wanted[-1].isalnum() and after.isascii()
        )
        if not joined:
            break
        at = text.find(wanted, at + 1)
    return at
