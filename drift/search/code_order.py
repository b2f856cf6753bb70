"""Pure: the order of source code: definitions before their uses, sources before tests and copies.

A test says the words of a question more often than what it tests, and a call as often as what it
calls. Paths tell tests and copies, and the beginnings of lines tell definitions, in any graph.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from drift.core.spellings import cut_at_case
from drift.core.stop_words import ASKING_WORDS, STOP_WORDS
from drift.model.graph import Chunk

BEHIND = 0.3
"""The share of its score that a chunk of a test or a copy keeps."""
RAISED = 0.5
"""The share of the best score that a definition gains whose name is the whole question."""
LOOKED_AT = 20_000  # characters of a chunk in which definitions are found; ours have fewer

_COMMON = STOP_WORDS | ASKING_WORDS
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ied|ies|ed|es|er|e|s|y)$")
_CODE = re.compile(
    r"\.(?:[cm]?[jt]sx?|pyi?|java|go|cs|kt|rs|rb|php|swift|scala|c|cc|cpp|h|hpp)$", re.IGNORECASE
)
_TESTS = frozenset({"test", "spec", "fixtur", "conftest", "pytest"})
_COPIES = frozenset({"vendor", "third", "extern", "exampl", "sampl", "build", "dist"})
_TEST_FILE = re.compile(r"(?:test_.*|.*_test|.*[.-](?:test|spec)|conftest|\w*[a-z0-9]Tests?)\.\w+")
_MODIFIERS = (
    "(?:(?:abstract|async|const|declare|export(?: default)?|final|internal|override|private"
    r"|protected|pub|public|readonly|sealed|static|virtual)[ \t]++)"
)
_DEFINED = re.compile(
    # what a keyword defines, as `def name`, `class Name`, `func (c *Command) Name`,
    rf"^[ \t]*+{_MODIFIERS}{{0,6}}(?:class|def|enum|fn|func|function|interface|record|struct|trait"
    r"|type)[ \t]++(?:\([^()\n]{0,100}\)[ \t]*+)?(\w++)"
    # what has a modifier, as `private static final int NAME =`, or is a method with its body,
    rf"|^[ \t]*+{_MODIFIERS}{{1,6}}(?:[\w<>\[\],.?]++[ \t]++){{0,2}}(\w++)[ \t]*+[=(;{{:]"
    r"|^[ \t]++(?!(?:catch|for|if|switch|while)\b)(\w++)\([^()\n]{0,200}\)[^(){};\n]{0,100}\{"
    # and what is set: in capitals, or at the margin.
    r"|^((?:[ \t]*+_*+[A-Z]|[a-z_])\w*+)[ \t]*+(?::[^=\n]{0,100})?=(?!=)",
    re.MULTILINE,
)
Stems = frozenset[str]


def definitions_first(question: str, best_first: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return the chunks, those of source code in the order of what a question asks for.

    Without source code among them, or where all of them are of tests, they stay as they are.
    """
    asked = _stems(question)
    paths = [_path(chunk) for chunk in best_first]
    late = {path for path in {*paths} if is_behind(path, asked)}
    if not any(paths) or late.issuperset(paths):
        return tuple(best_first)

    names = [
        {_stems(name) for name in _defined(chunk.text)} if path and path not in late else set()
        for chunk, path in zip(best_first, paths, strict=True)
    ]
    counts = Counter(stem for own in names for stem in Stems().union(*own))
    rarity = {stem: math.log(1 + len(names) / (1 + counts[stem])) for stem in asked | counts.keys()}
    most = best_first[0].score
    ordered = []
    for chunk, path, own in zip(best_first, paths, names, strict=True):
        meeting = [name for name in own if name & asked]
        around = _stems(f"{chunk.heading} {path}") & asked if meeting else Stems()
        match = max((_match(name, around, asked, rarity) for name in meeting), default=0.0)
        score = chunk.score * (BEHIND if path in late else 1) + RAISED * most * match
        ordered.append(replace(chunk, score=round(score, 6)))
    return tuple(sorted(ordered, key=lambda chunk: -chunk.score))


def _match(name: Stems, around: Stems, asked: Stems, rarity: Mapping[str, float]) -> float:
    """Return how much of a name is asked for, times how much of the question it says, 0..1."""
    held = name & asked
    of_name = _sum(held, rarity) / _sum(name, rarity)
    return of_name * _sum(held | around, rarity) / _sum(asked, rarity)


def _sum(stems: Stems, rarity: Mapping[str, float]) -> float:
    return sum(map(rarity.__getitem__, stems))


def _path(chunk: Chunk) -> str:
    """Return the path of a document of source code; empty for another one."""
    return next((p for p in (chunk.document_id, chunk.document_name) if _CODE.search(p)), "")


def is_behind(path: str, asked: Stems) -> bool:
    """Tell whether a path is of a test or a copy that the question does not ask for."""
    folders, _, file = path.replace("\\", "/").rpartition("/")
    marks = _stems(folders)
    is_test = bool(_TEST_FILE.fullmatch(file) or marks & _TESTS) and not asked & _TESTS
    return is_test or bool((marks & _COPIES) - asked)


def _defined(text: str) -> list[str]:
    """Return the names that lines of a text define."""
    return [found[found.lastindex or 0].strip() for found in _DEFINED.finditer(text, 0, LOOKED_AT)]


def _stems(text: str) -> Stems:
    """Return what forms of its words share: `retry` and `retried`, `parser` and `parsed`."""
    pieces = (part for piece in re.findall(r"[^\W_]+", text) for part in cut_at_case(piece))
    words = {part.lower() for part in pieces if len(part) > 1}
    return Stems(_ENDING.sub("", word)[:6] for word in words - _COMMON)
