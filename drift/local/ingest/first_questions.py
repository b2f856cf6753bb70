"""Pure: questions to begin with, each made of what one passage defines or is headed by.

What a question asks for stands word for word in its passage, so that it says nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import PurePosixPath
from typing import Self

from drift.graph.writing.records import ChunkDefinitions, ChunkRecord, CommunityRecord, Definition
from drift.indexing.chunking import PATH_SEPARATOR
from drift.local.ingest.code.languages import LANGUAGES
from drift.local.ingest.defined_entities import SYMBOL
from drift.local.ingest.digests import CENTRAL_CHUNKS
from drift.local.ingest.headings import telling
from drift.local.ingest.prose import has_prose, sentences, words
from drift.search.code_order import is_behind

MOST_QUESTIONS = 12
MOST_TRIED = 36
"""Of which the search is asked whether it finds their passages."""
AMONG = 3
"""The place in a search up to which the passage of a question has to stand."""

_LONGEST = 110
_MOST_WORDS_OF_A_NAME = 5
_FIRST_SENTENCES = 3
_LEAST_SHARED = 0.5
_LEAST_OF_A_LANGUAGE = 0.06
_LEAST_WORDS_OF_A_DOCSTRING = 4

_DEFINED, _AT_WORK, _A_PHRASE, _A_TITLE = range(4)
"""What a question is made of, the best first: a title may say little beside its text."""

_NAME = r"(?P<name>[^,.;:()\[\]!?\"“”„]{2,60}?)"
_DEFINITION = {
    "en": re.compile(
        rf"(?P<article>an? |the )?{_NAME} (?P<verb>is|are) (?:an?|the|one|any|those|what) ", re.I
    ),
    "de": re.compile(
        rf"(?P<article>eine? |der |die |das )?{_NAME} (?P<verb>ist|sind) (?:eine?|der|die|das) ",
        re.I,
    ),
}
_WHAT = {"en": "What", "de": "Was"}
_WHO = {"en": "Who or what", "de": "Wer oder was"}
_ABOUT = {
    "en": "What should I know about {}?",
    "de": "Was muss ich über {} wissen?",
    "": "{}?",
}
_CODE = {
    "en": {"class": "What is the class {}?", "function": "What does the function {} do?"},
    "de": {"class": "Was ist die Klasse {}?", "function": "Was tut die Funktion {}?"},
}
_KINDS = {"interface": "class", "method": "function"}
_BETWEEN = {
    "en": frozenset({*"the of and is are to in that for with as by it be".split()}),
    "de": frozenset({*"der die das und ist sind ein eine nicht zu den mit von im wird".split()}),
}
"""Words by which a language is known."""
_INSIDE = frozenset("of for in with the to a an on von für mit der die das den dem des im".split())
_INDEFINITE = frozenset({"a ", "an ", "ein ", "eine "})
_ARTICLE = re.compile(r"(?:an?|the) ", re.IGNORECASE)
_MANY = re.compile(r"\w+ing |(?:[\w-]+ )*?[\w-]*[^\Wius]s(?: (?:of|in|for|with|to) |$)")
_HOW_TO = re.compile(r"how to (\w.+)", re.IGNORECASE)
_DOES = re.compile(
    r"(?:The )?`(?![a-z]+`|import |\S*(?:/|\btests?\b))([A-Za-z][\w./ -]{2,40})`"
    r" (?!is |has |was |does )[a-z]+s "
)
_ASKS = re.compile(r"(?:how|wh\w+|wie|was|wann|wo|warum|wer|welche\w?)\b|\d", re.IGNORECASE)
_IS_ABOUT_FILES = re.compile(
    r"(?:change(?:s|log)|history|news|licen[cs]es?|copying|contribut\w+|notice|authors)\b",
    re.IGNORECASE,
)
_VAGUE = frozenset(
    """
    aim although another answer approach aspect author because benefit case cause challenge conclusion
    difference effect exception fact feature first focus following former goal hope idea issue kind
    latter main method most number one only part people point problem process purpose question
    reason result rest role same second since solution step task term thing things third though
    type unless until use value way while word work year

    art aufgabe ergebnis folge frage frist grund idee lösung menschen problem punkt regel schritt
    teil thema unterschied weg ziel zweck
    """.split()  # noqa: SIM905 - a list of words reads best as text
)
"""Words that mean something only where the sentence before is known."""


@dataclass(frozen=True, slots=True)
class FirstQuestion:
    """A question with the chunk that it is made of."""

    chunk_id: str
    text: str

    @classmethod
    def from_line(cls, line: str) -> Self:
        """Return what was stored."""
        return cls(*line.split("\n", 1))

    def to_line(self) -> str:
        """Return it as it is stored."""
        return f"{self.chunk_id}\n{self.text}"


def first_questions(
    topics: Sequence[CommunityRecord],
    chunks: Mapping[str, ChunkRecord],
    facts: Sequence[ChunkDefinitions],
) -> list[FirstQuestion]:
    """Return up to MOST_TRIED questions: the best of each topic, largest first, then the next.

    Those of texts stand before those of code, and what is made of a title alone stands last.
    """
    defines = {one.chunk_id: one.defines for one in facts}
    names = Counter(_last(d.title) for one in facts for d in one.defines if d.label == SYMBOL)
    heads = {(_heading(one).lower(), one.document_id) for one in chunks.values()}
    documents = Counter(heading for heading, _ in heads)

    by_topic: list[list[tuple[int, bool, FirstQuestion]]] = []
    for topic in sorted(topics, key=lambda one: (-len(one.chunk_ids), one.community)):
        found: list[tuple[int, bool, FirstQuestion]] = []
        central = [chunks[id_] for id_ in topic.chunk_ids if id_ in chunks][:CENTRAL_CHUNKS]
        for chunk in central:
            is_code = _is_code(chunk)
            own = defines.get(chunk.id, ())
            for rank, text in _of_code(chunk, own, names) if is_code else _of_text(chunk):
                is_own = rank < _A_PHRASE or documents[_heading(chunk).lower()] == 1
                if is_own and len(text) <= _LONGEST:
                    found.append((rank, is_code, FirstQuestion(chunk.id, text)))
        by_topic.append(sorted(found, key=lambda one: one[0]))

    in_turn = filter(None, chain.from_iterable(zip_longest(*by_topic)))
    ordered = sorted(in_turn, key=lambda one: (one[0] == _A_TITLE, one[1]))
    once = {one.text.lower(): one for _, _, one in reversed(ordered)}
    return list(once.values())[::-1][:MOST_TRIED]


def language_of(text: str) -> str:
    """Return `en` or `de` where a text is written so; nothing of other languages."""
    read = text.lower().split()
    counts = {name: sum(word in own for word in read) for name, own in _BETWEEN.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] >= max(1, _LEAST_OF_A_LANGUAGE * len(read)) else ""


# -------------------------------------------------------------------------------------------- texts
def _of_text(chunk: ChunkRecord) -> Iterator[tuple[int, str]]:
    """Yield what a passage answers, and what that is made of."""
    if _IS_ABOUT_FILES.match(PurePosixPath(chunk.document_id).name) or not has_prose(chunk):
        return
    language = language_of(chunk.text)
    whole = [one.text for one in sentences(chunk.text) if one.whole]
    for sentence in whole if language else ():
        found = _DEFINITION[language].match(sentence)
        if found and _is_named(found, chunk):
            yield _DEFINED, _what(found, chunk.text, language)
        elif language == "en" and (found := _DOES.match(sentence)):
            yield _AT_WORK, f"What does {found[1]} do?"

    heading, own = _heading(chunk), {*words(_heading(chunk))} - {""}
    said = {*words(" ".join(whole[:_FIRST_SENTENCES]))}
    if heading not in chunk.text or len(own & said) < max(1, _LEAST_SHARED * len(own)):
        return
    if "?" in heading:
        yield _DEFINED, heading[: heading.index("?") + 1]
    elif found := _HOW_TO.fullmatch(heading):
        yield _DEFINED, f"How do I {found[1]}?"
    elif not _ASKS.match(heading) and any(words(_ARTICLE.sub("", heading).split()[0])) and (len(own) > 1 or not heading[1:].islower()):
        yield _about(heading, chunk.text, language)


def _is_named(found: re.Match[str], chunk: ChunkRecord) -> bool:
    """Tell whether a definition is of a thing with a name that is known beside that sentence."""
    name, article = found["name"], (found["article"] or "").lower()
    parts = name.lower().split()
    topical = [any(words(part)) for part in parts]
    is_name = topical[0] and topical[-1] and len(parts) <= _MOST_WORDS_OF_A_NAME
    inside = (says or part in _INSIDE for part, says in zip(parts, topical, strict=True))
    if not is_name or not all(inside) or {*parts} & _VAGUE or telling(name) != name:
        return False

    headed = {*words(f"{chunk.title} {chunk.heading}")}
    if name.isupper() or any(part[0].isupper() for part in name.split()[1:]):
        return True
    if len(parts) == 1 and article not in _INDEFINITE:
        return parts[0] in headed and article != "the "
    return not headed.isdisjoint(parts) or chunk.text.lower().count(name.lower()) > 1


def _what(found: re.Match[str], text: str, language: str) -> str:
    """Return the question that a definition answers."""
    article, name = (found["article"] or "").lower(), found["name"]
    parts = name.split()
    is_person = len(parts) > 1 and all(part.istitle() for part in parts) and not article
    asking = _WHO if is_person and found["verb"] in {"is", "ist"} else _WHAT
    name = name if article or is_person else _as_inside(name, text)
    return f"{asking[language]} {found['verb']} {article}{name}?"


def _about(heading: str, text: str, language: str) -> tuple[int, str]:
    """Return the question about a heading, in quotes where that is no phrase of the text."""
    bare = _ARTICLE.sub("", heading)
    is_phrase = text.lower().count(bare.lower()) > 1
    is_plain = is_phrase and (bare != heading or _MANY.match(bare))
    made_of = _A_PHRASE if is_phrase else _A_TITLE
    if is_plain and language == "en":
        heading = heading[: -len(bare)].lower() + _as_inside(bare, text)
    elif language:
        heading = f"„{heading}“" if language == "de" else f"“{heading}”"
    return made_of, _ABOUT[language].format(heading)


def _as_inside(name: str, text: str) -> str:
    """Return a name that begins a line as it stands inside of a sentence of the text."""
    small = name[0].lower() + name[1:]
    begins = re.escape(small.split()[0])
    return small if re.search(rf"(?<!\w){begins}(?!\w)", text) else name


# --------------------------------------------------------------------------------------------- code
def _of_code(
    chunk: ChunkRecord, defines: Sequence[Definition], names: Counter[str]
) -> Iterator[tuple[int, str]]:
    """Yield what docstrings answer of public names that no other one shares; tests have none."""
    if is_behind(chunk.document_id, frozenset()):
        return
    for one in defines:
        docstring = one.description.partition(" – ")[2]
        kind, language = _KINDS.get(one.type, one.type), language_of(docstring) or "en"
        parts = one.title.split(".")
        is_name = parts[-1][0].isupper() if kind == "class" else not one.title.isalpha()
        is_public = is_name and not any(part.startswith("_") for part in parts)
        is_told = len(docstring.split()) >= _LEAST_WORDS_OF_A_DOCSTRING
        if is_public and is_told and kind in _CODE[language] and names[parts[-1]] == 1:
            yield _DEFINED, _CODE[language][kind].format(one.title)


def _heading(chunk: ChunkRecord) -> str:
    """Return what stands right above a passage, where it tells something; code has none."""
    return "" if _is_code(chunk) else telling(chunk.heading.split(PATH_SEPARATOR)[-1])


def _is_code(chunk: ChunkRecord) -> bool:
    return PurePosixPath(chunk.document_id).suffix in LANGUAGES


def _last(title: str) -> str:
    return title.rsplit(".", 1)[-1]
