"""Pure: findings as elements of a prompt, with short handles in place of ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from drift.core.folding import whole_words
from drift.core.sentence_ends import split_sentences
from drift.evidence.sentences import sentences
from drift.evidence.text import content_words
from drift.model.graph import Chunk, Community, CommunityId, document_of
from drift.model.tree import Citation, Node
from drift.prompting.markup import element, indented, on_line, plain
from drift.prompting.tokens import cut, cut_to

MAX_SUMMARY_CHARACTERS = 1_500
MAX_SAMPLE_CHARACTERS = 2_000  # as long as the longest chunk of ours
MAX_CANDIDATE_CHARACTERS = 200  # of the one sentence that a candidate shows
LOOKED_AT = 10_000  # characters of a candidate in which that is chosen; our chunks have fewer

_SHORT_LINE = re.compile(r"(?<![^\n]{60})\n")
"""The end of a line that is no wrapped prose: a heading, an item, a row."""

Key = TypeVar("Key", int, str, int | str)


@dataclass(frozen=True, slots=True)
class Handles(Generic[Key]):
    """Short names for ids within one request (`C1`, `K1`, ...), and the way back."""

    prefix: str
    keys: tuple[Key, ...] = ()

    @classmethod
    def of(cls, prefix: str, keys: Iterable[Key]) -> Handles[Key]:
        """Number the distinct keys in order."""
        return cls(prefix, tuple(dict.fromkeys(keys)))

    def short(self, key: Key) -> str:
        """Return the handle of a key that is among them."""
        return f"{self.prefix}{self.keys.index(key) + 1}"

    def all_short(self) -> list[str]:
        """Return every handle in order."""
        return [f"{self.prefix}{number}" for number in range(1, len(self.keys) + 1)]

    def resolve(self, text: str) -> Key | None:
        """Return the key that a model meant by a handle or by the real id; None without one."""
        name = text.strip().strip("[]").strip()
        prefix, number = name[: len(self.prefix)], name[len(self.prefix) :]
        if prefix.upper() == self.prefix and number.isascii() and number.isdigit():
            position = int(number[:9]) - 1
            if 0 <= position < len(self.keys):
                return self.keys[position]

        return next((key for key in self.keys if str(key) in {name, text}), None)

    def resolved(self, names: Iterable[str]) -> tuple[Key, ...]:
        """Return the distinct keys that these names mean, in order, without names of no key."""
        keys = (self.resolve(name) for name in names)
        return tuple(dict.fromkeys(key for key in keys if key is not None))


@dataclass(frozen=True, slots=True)
class RequestHandles:
    """The handles of all communities and chunks that a request has shown so far."""

    communities: Handles[CommunityId] = field(default_factory=lambda: Handles("C"))
    chunks: Handles[str] = field(default_factory=lambda: Handles("K"))

    def including(self, chunks: Iterable[str]) -> RequestHandles:
        """Return these handles, with further ones for chunks that have none yet."""
        return RequestHandles(self.communities, Handles.of("K", (*self.chunks.keys, *chunks)))

    def in_prose(self, chunks: Mapping[str, Chunk]) -> dict[str, str]:
        """Return the words for each handle in prose: the document of a chunk, or nothing."""
        names = {chunk_id: chunk.document_name for chunk_id, chunk in chunks.items()}
        told = {self.chunks.short(id_): names.get(id_, "") for id_ in self.chunks.keys}
        return dict.fromkeys(self.communities.all_short(), "") | told


def community_elements(
    communities: Sequence[Community],
    handles: Handles[int | str],
    characters: int = MAX_SUMMARY_CHARACTERS,
) -> list[str]:
    """Return communities as elements of a prompt, with a title that says more than the summary."""
    return [
        element(
            "community",
            plain(cut(c.summary, characters)),
            id=handles.short(c.id),
            level=c.level,
            title="" if c.title in c.summary else short_name(c.title),
        )
        for c in communities
    ]


def topic_elements(topics: Sequence[Community], characters: int) -> list[str]:
    """Return topics as elements that nothing can be cited of."""
    return [
        element("topic", plain(cut(one.summary, characters)), title=on_line(one.title))
        for one in topics
    ]


def document_names(found: Iterable[Chunk | Citation]) -> dict[str, str]:
    """Return each document's name by its key, with its path where others here have the same."""
    names = {one.document_id or one.document_name: one.document_name for one in found}
    shared = Counter(names.values())
    return {
        key: name if shared[name] == 1 or key == name else f"{cut(name, 100)} ({key})"
        for key, name in names.items()
    }


def told_apart(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return chunks with the names of their documents as a prompt shows them."""
    names = document_names(chunks)
    return tuple(replace(one, document_name=names[document_of(one)]) for one in chunks)


def candidate_handles(chunks: Iterable[Chunk]) -> Handles[str]:
    """Return the handles of candidates, by their places: those shown are the first of all."""
    return Handles.of("P", (chunk.id for chunk in chunks))


def sample_elements(
    samples: Sequence[Chunk], communities: Sequence[Community], names: Handles[int | str]
) -> list[str]:
    """Return the first candidates whole, each with the community that it is a sample of."""
    handles = candidate_handles(samples)
    # Of several that hold a sample the smallest says most of it, and of these the better one.
    smallest = sorted(communities, key=lambda one: len(one.members))
    held_by = {id_: names.short(one.id) for one in reversed(smallest) for id_ in one.members}
    return [
        element(
            "sample",
            plain(cut(chunk.text, MAX_SAMPLE_CHARACTERS)),
            id=handles.short(chunk.id),
            community=held_by.get(chunk.id),
            **_where(chunk),
        )
        for chunk in samples
    ]


def candidate_lines(question: str, chunks: Sequence[Chunk]) -> list[str]:
    """Return a line for each chunk: its handle, document and heading, and its best sentence.

    That is the sentence with most of the question's words beside those, by how few sentences have
    them.
    """
    asked = content_words(question)
    names = [" > ".join(filter(None, _named(chunk))) for chunk in chunks]
    units = [
        _beside(name, chunk.text[:LOOKED_AT]) for name, chunk in zip(names, chunks, strict=True)
    ]
    counts = Counter(word for own in units for _, words in own for word in words & asked)

    lines, handles = [], candidate_handles(chunks)
    for chunk, name, own in zip(chunks, names, units, strict=True):
        best, _ = max(own, key=lambda unit: sum(1 / counts[word] for word in unit[1] & asked))
        said = on_line(f"{name}: {cut(best, MAX_CANDIDATE_CHARACTERS)}")
        lines.append(f"{handles.short(chunk.id)}| {said}")
    return lines


def _beside(name: str, text: str) -> list[tuple[str, frozenset[str]]]:
    """Return the sentences of a text that say more than a name, each with its further words."""
    told = content_words(name)
    found = (one for block in _SHORT_LINE.split(text) for one in split_sentences(block))
    units = [(sentence, content_words(sentence) - told) for sentence in found]
    return [unit for unit in units if unit[1]] or [(text, frozenset())]


def chunk_element(chunk: Chunk, handle: str, most: int | None = None) -> str:
    """Return a chunk as an element of a prompt, its first `most` sentences numbered."""
    numbered = "\n".join(
        f"{number}| {indented(whole_words(sentence, chunk.text))}"
        for number, sentence in enumerate(sentences(chunk.text)[:most], start=1)
    )
    return element("chunk", numbered, id=handle, **_where(chunk))


def _where(chunk: Chunk) -> dict[str, str]:
    document, heading = _named(chunk)
    return {"document": document, "heading": heading, "place": place_of(chunk)}


def _named(chunk: Chunk) -> tuple[str, str]:
    """Return the names of a chunk's document and heading; the latter only where it says more."""
    heading = "" if chunk.heading == chunk.document_name else short_name(chunk.heading)
    newer = f" (superseded by {short_name(one)})" if (one := chunk.superseded_by) else ""
    return f"{short_name(chunk.document_name)}{newer}", heading


def short_name(name: str) -> str:
    """Return the beginning of a document's name or a heading: some graphs name one by its text."""
    return cut_to(cut(name, 200), 100)


def place_of(chunk: Chunk) -> str:
    """Return "12 of 42" for the twelfth of 42 chunks; empty where that is not known."""
    return f"{chunk.place} of {chunk.places}" if chunk.place and chunk.places else ""


def in_reading_order(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return chunks, given best first, so that those of one document stand in its order."""
    # Where no ids tell two documents of one name apart, most differ in how many chunks they have.
    documents = list(dict.fromkeys((document_of(chunk), chunk.places) for chunk in chunks))

    def place(chunk: Chunk) -> tuple[int, int]:
        return documents.index((document_of(chunk), chunk.places)), chunk.place or 0

    return tuple(sorted(chunks, key=place))


@dataclass(frozen=True, slots=True)
class SearchHistory:
    """The state of a search when follow-ups are read.

    `settled` are the follow-ups that ended before, `names` the names found so far. In the last pass
    nothing new is asked for.
    """

    settled: tuple[Node, ...] = ()
    names: tuple[str, ...] = ()
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """The sources of an executor's answer, as elements and lines."""

    asked: Sequence[str] = ()
    names: Sequence[str] = ()
    graph: Sequence[str] = ()
    chunks: Sequence[str] = ()


def asked_elements(
    memory: SearchHistory, shown: Collection[str], handles: Handles[str]
) -> list[str]:
    """Return earlier follow-ups; evidence in a chunk that is shown as well is only named."""
    return [_settled(node, shown, handles) for node in memory.settled]


def _settled(node: Node, shown: Collection[str], handles: Handles[str]) -> str:
    state, lines = "looked for in vain", [on_line(node.question.text)]
    if (answer := node.answer) and answer.citations:
        state = answer.verdict.replace("_", " ")
        lines.append(_beginning(answer.text))
        for citation in answer.citations:
            # K3.4 is sentence 4 of chunk K3.
            at = ".".join(filter(None, (handles.short(citation.chunk_id), citation.sentences)))
            lines.append(at if citation.chunk_id in shown else f"{at} {on_line(citation.span)}")

    return element("followup", "\n".join(lines), state=state)


def _beginning(answer: str) -> str:
    """Return the sentences of an answer that a line has room for, else some of the first one."""
    said, most = "", 300
    for sentence in split_sentences(on_line(answer)):
        if len(said) + len(sentence) > most:
            return said or f"{cut(sentence, most).rstrip()} \u2026"
        said = f"{said} {sentence}".lstrip()
    return said
