"""Pure: questions to begin with, each made of what one passage defines or is headed by.

What a question asks for stands word for word in its passage, so that it says nothing else.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, zip_longest
from pathlib import PurePosixPath

from drift.graph.writing.records import ChunkDefinitions, ChunkRecord, CommunityRecord, Definition
from drift.indexing.chunking import PATH_SEPARATOR
from drift.local.ingest.code.languages import LANGUAGES
from drift.local.ingest.defined_entities import SYMBOL, own_name
from drift.local.ingest.digests import CENTRAL_CHUNKS
from drift.local.ingest.headings import telling
from drift.local.ingest.prose import has_prose, sentences, words
from drift.search.code_order import is_behind

MOST_QUESTIONS = 12
MOST_TRIED = 16
"""Of which the search is asked whether it finds their passages."""
AMONG = 3
"""The place in a search up to which the passage of a question has to stand."""

FirstQuestion = tuple[str, str]
"""The id of the chunk that a question is made of, and the question."""

_LONGEST = 110
_MOST_WORDS_OF_A_NAME = 5
_LEAST_OF_A_LANGUAGE = 0.06
_LEAST_WORDS_OF_A_DOCSTRING, _LEAST_USES = 4, 3

_DEFINED, _AT_WORK, _A_TITLE = range(3)
"""What a question is made of, the best first: a title may say little beside its text."""

_NAME = r"(?P<name>[^,.;:()\[\]!?\"“”„]{2,60}?)"
_NO_EXAMPLE = r"(?!an? (?:\w+ )?(?:example|lot|must|part|result)\b)"
_DEFINITION = {
    "en": re.compile(
        rf"(?P<article>an? |the )?{_NAME} (?P<verb>is|are) {_NO_EXAMPLE}(?:an?|the|any|those) ",
        re.IGNORECASE,
    ),
    "de": re.compile(
        rf"(?P<article>eine? |der |die |das )?{_NAME} (?P<verb>ist|sind) (?:eine?|der|die|das) ",
        re.IGNORECASE,
    ),
}
_WHAT = {"en": "What", "de": "Was"}
_WHO = {"en": "Who or what", "de": "Wer oder was"}
_ABOUT = {"en": "What is “{}” about?", "de": "Worum geht es bei „{}“?", "": "{}?"}
_CODE = {"class": "What is {}?", "interface": "What is {}?", "function": "What does {} do?"}
_BETWEEN = {
    "en": frozenset("the of and is are to in that for with as by it be".split()),
    "de": frozenset("der die das und ist sind ein eine nicht zu den mit von im wird".split()),
}
"""Words by which a language is known."""
_INSIDE = frozenset("of for in with the to a an on von für mit der die das den dem des im".split())
_ARTICLE = re.compile(r"(?:an?|the|eine?|der|die|das) ", re.IGNORECASE)
_HOW_TO = re.compile(r"how to (\w.+)", re.IGNORECASE)
_DOES = {"en": "What does {}{} do?", "de": "Was macht {}{}?"}
_WORKS = {
    "en": r"(the |an? )?({}) (?!(?:is|has|was|does) )[a-z]+s ",
    "de": r"(der |die |das )?({}) (?!(?:ist|hat) )[a-zäöüß]+t ",
}
_NAMED_AS_CODE = re.compile(
    r"(?:The )?`(?![a-z]+`|import |[^`]*(?:/|\btests?\b))([A-Za-z][\w./ -]{2,40})`"
    r" (?!is |has |was |does )[a-z]+s "
)
_ASKS = re.compile(r"(?:how|wh\w+|wie|was|wann|wo|warum|wer|welche\w?)\b|\d", re.IGNORECASE)
_IS_ABOUT_FILES = re.compile(
    r"(?:change(?:s|log)|history|news|licen[cs]es?|copying|contribut\w+|notice|authors)\b",
    re.IGNORECASE,
)
_VAGUE = frozenset(
    """
    aim although another answer approach art aspect aufgabe author because benefit case cause
    challenge conclusion difference each effect ergebnis every exception fact feature first focus
    folge following former frage frist goal grund hope idea idee issue kind latter lösung main
    menschen method most number one only part people point problem process punkt purpose question
    reason regel rest result role same schritt second since solution step task teil term thema thing
    things third though type unless unterschied until use value way weg while word work year ziel
    zweck
    """.split()
)
"""Words that mean something only where the sentence before is known."""


def first_questions(
    topics: Sequence[CommunityRecord],
    chunks: Mapping[str, ChunkRecord],
    facts: Sequence[ChunkDefinitions],
) -> list[FirstQuestion]:
    """Return up to MOST_TRIED questions: the best of each topic, largest first, then the next.

    Those of texts stand before those of code, and what is made of a title alone stands last.
    """
    defines = {one.chunk_id: one.defines for one in facts}
    names = Counter(own_name(d.title) for one in facts for d in one.defines if d.label == SYMBOL)
    uses = Counter(name for one in facts for name in one.names)
    known = {name for name, number in names.items() if number == 1 and uses[name] >= _LEAST_USES}
    heads = {(_heading(one).lower(), one.document_id) for one in chunks.values()}
    documents = Counter(heading for heading, _ in heads)

    by_topic: list[list[tuple[int, bool, FirstQuestion]]] = []
    for topic in sorted(topics, key=lambda one: (-len(one.chunk_ids), one.community)):
        found: list[tuple[int, bool, FirstQuestion]] = []
        central = [chunks[id_] for id_ in topic.chunk_ids if id_ in chunks][:CENTRAL_CHUNKS]
        for chunk in central:
            is_code = _is_code(chunk)
            own = defines.get(chunk.id, ())
            for rank, text in _of_code(chunk, own, known) if is_code else _of_text(chunk):
                is_own = rank != _A_TITLE or documents[_heading(chunk).lower()] == 1
                if is_own and len(text) <= _LONGEST:
                    found.append((rank, is_code, (chunk.id, text)))
        by_topic.append(sorted(found, key=lambda one: one[0]))

    in_turn = filter(None, chain.from_iterable(zip_longest(*by_topic)))
    ordered = sorted(in_turn, key=lambda one: (one[0] == _A_TITLE, one[1]))
    once = {one[1].lower(): one for _, _, one in reversed(ordered)}
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
    language, heading = language_of(chunk.text), _heading(chunk)
    whole = [one.text for one in sentences(chunk.text) if one.whole]
    for sentence in whole if language else ():
        found = _DEFINITION[language].match(sentence)
        if found and _is_named(found, chunk):
            yield _DEFINED, _what(found, chunk.text, language)
        elif told := _at_work(sentence, heading, language):
            yield _AT_WORK, told

    own = {*words(heading)} - {""}
    says_all = any(own <= {*words(sentence)} for sentence in whole)
    if not own or heading not in chunk.text or not says_all:
        return
    if "?" in heading:
        yield _DEFINED, heading[: heading.index("?") + 1]
    elif found := _HOW_TO.fullmatch(heading):
        yield _DEFINED, f"How do I {found[1]}?"
    elif not _ASKS.match(heading) and (not language or len(own) > 1):
        yield _A_TITLE, _ABOUT[language].format(heading)


def _is_named(found: re.Match[str], chunk: ChunkRecord) -> bool:
    """Tell whether a definition is of a thing with a name that is known beside that sentence."""
    name, article = found["name"], (found["article"] or "").lower()
    parts = name.lower().split()
    topical = [any(words(part)) for part in parts]
    is_name = topical[0] and topical[-1] and len(parts) <= _MOST_WORDS_OF_A_NAME
    inside = (says or part in _INSIDE for part, says in zip(parts, topical, strict=True))
    if (
        not is_name
        or not all(inside)
        or len({*parts}) < len(parts)
        or {*parts} & _VAGUE
        or telling(name) != name
    ):
        return False

    headed = {*words(f"{chunk.title} {chunk.heading}")}
    if name.isupper() or any(part[0].isupper() for part in name.split()[1:]):
        return True
    is_headed = any(word.startswith(parts[-1]) for word in headed)
    if len(parts) == 1:
        return is_headed and article != "the "
    return is_headed or chunk.text.lower().count(name.lower()) > 1


def _what(found: re.Match[str], text: str, language: str) -> str:
    """Return the question that a definition answers."""
    article, name = (found["article"] or "").lower(), found["name"]
    parts = name.split()
    is_person = len(parts) > 1 and all(part.istitle() for part in parts) and not article
    asking = _WHO if is_person and found["verb"] in {"is", "ist"} else _WHAT
    name = name if article or is_person else _as_inside(name, text)
    return f"{asking[language]} {found['verb']} {article}{name}?"


def _at_work(sentence: str, heading: str, language: str) -> str:
    """Return what a thing does, where a sentence about what the heading or code names tells it."""
    if language == "en" and (found := _NAMED_AS_CODE.match(sentence)):
        return f"What does {found[1]} do?"
    bare = _ARTICLE.sub("", heading)
    if not bare or bare.lower() not in sentence[: len(bare) + 4].lower():
        return ""
    found = re.match(_WORKS[language].format(re.escape(bare)), sentence, re.IGNORECASE)
    return _DOES[language].format((found[1] or "").lower(), found[2]) if found else ""


def _as_inside(name: str, text: str) -> str:
    """Return a name that begins a line as it stands inside of a sentence of the text."""
    small = name[0].lower() + name[1:]
    begins = re.escape(small.split()[0])
    return small if re.search(rf"(?<!\w){begins}(?!\w)", text) else name


# --------------------------------------------------------------------------------------------- code
def _of_code(
    chunk: ChunkRecord, defines: Sequence[Definition], known: AbstractSet[str]
) -> Iterator[tuple[int, str]]:
    """Yield what docstrings answer of public names that are known; tests have none."""
    if is_behind(chunk.document_id, frozenset()):
        return
    for one in defines:
        docstring = one.description.partition(" – ")[2]
        is_name = any(not sign.islower() for sign in one.title[1:])
        is_public = is_name and not one.title.startswith(("_", "test"))
        is_told = len(docstring.split()) >= _LEAST_WORDS_OF_A_DOCSTRING
        if is_public and is_told and one.type in _CODE and one.title in known:
            yield _DEFINED, _CODE[one.type].format(one.title)


def _heading(chunk: ChunkRecord) -> str:
    """Return what stands right above a passage, where it tells something; code has none."""
    return "" if _is_code(chunk) else telling(chunk.heading.split(PATH_SEPARATOR)[-1])


def _is_code(chunk: ChunkRecord) -> bool:
    return PurePosixPath(chunk.document_id).suffix in LANGUAGES
