"""Reading a prompt strictly: only its own words may stand outside its tags.

It shares no code with what writes the prompts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ROWS = {
    "communities": "community",
    "samples": "sample",
    "asked": "followup",
    "chunks": "chunk",
    "followups": "followup",
    "findings": "finding",
    "context": "node",
    "conversation": "said",
}
"""Tags that hold others, and which."""
LEAVES = {
    *ROWS.values(),
    *("question", "question_again", "candidates", "names", "graph", "unanswered"),
    *("previous_reply", "problem"),
}

_OPENS = re.compile(r"<(?P<tag>[a-z_]+)(?P<attributes>(?: [a-z]+=\"[^\">\n]*\")*)>")
_ATTRIBUTE = re.compile(r" ([a-z]+)=\"([^\"]*)\"")
_OWN = re.compile(rf"<\s*/?\s*(?:{'|'.join({*ROWS, *LEAVES})})\b", re.IGNORECASE)
_ASKED_AGAIN = (
    "The previous reply could not be used. Reply again, with valid JSON of the requested shape"
    " and nothing else."
)
_LAST = {"", "Hypothetical answer paragraph:", _ASKED_AGAIN}


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag of a prompt: what stands in it as text, or the tags in it."""

    attributes: Mapping[str, str]
    content: str = ""
    rows: Sequence[Tag] = ()

    def lines(self) -> list[str]:
        """Return its content by line."""
        return self.content.split("\n")


def tags(user: str) -> dict[str, Tag]:
    """Return the tags of a user message by their names.

    Raises:
        AssertionError: when it is anything but known tags, each of them once, and one of the known
            last sentences; or when a tag holds what could be read as one.
    """
    found: dict[str, Tag] = {}
    at = 0
    while match := _OPENS.match(user, at):
        name = match["tag"]
        assert name not in found, f"<{name}> comes twice"
        found[name], at = _tag(user, match)
        at += len("\n\n") if user.startswith("\n\n", at) else 0
    assert user[at:] in _LAST, f"outside of every tag: {user[at:][:200]!r}"
    return found


def _tag(text: str, opens: re.Match[str]) -> tuple[Tag, int]:
    """Return a tag, and where it ends."""
    name = opens["tag"]
    assert name in ROWS or name in LEAVES, f"<{name}> is no tag of a prompt"
    closes = f"</{name}>"
    end = text.find(closes, opens.end())
    assert end >= 0, f"<{name}> does not end"

    content = text[opens.end() : end]
    if content.startswith("\n"):
        assert content.endswith("\n"), f"<{name}> ends within a line"
        content = content[1:-1]
    attributes = dict(_ATTRIBUTE.findall(opens["attributes"]))
    if name in ROWS:
        return Tag(attributes, rows=_rows(content, ROWS[name])), end + len(closes)
    assert not _OWN.search(content), f"<{name}> holds a tag: {content[:200]!r}"
    return Tag(attributes, content), end + len(closes)


def _rows(content: str, name: str) -> list[Tag]:
    rows: list[Tag] = []
    at = 0
    while match := _OPENS.match(content, at):
        assert match["tag"] == name, f"<{match['tag']}> stands among <{name}>"
        row, at = _tag(content, match)
        rows.append(row)
        at += content.startswith("\n", at)
    assert at == len(content), f"beside every <{name}>: {content[at:][:200]!r}"
    return rows


_NUMBERED = re.compile(r"(\d+)\| (.*)", re.DOTALL)
_FACT = re.compile(r"\[(\d+)\] ")


def sentences(chunk: Tag) -> list[str]:
    """Return the sentences of a chunk.

    Raises:
        AssertionError: when a line has another number than the next, or continues none.
    """
    found: list[str] = []
    for line in chunk.lines() if chunk.content else ():
        if numbered := _NUMBERED.match(line):
            assert int(numbered[1]) == len(found) + 1, f"a forged number: {line[:200]!r}"
            found.append(numbered[2])
        else:
            assert found, f"before every number: {line[:200]!r}"
            assert line.startswith("   "), f"no line of a sentence: {line[:200]!r}"
            found[-1] += f"\n{line[3:]}"
    return found


def facts(findings: Sequence[Tag]) -> list[str]:
    """Return the numbered facts of the aggregator's prompt.

    Raises:
        AssertionError: when a finding is anything but a question, an answer, and numbered facts.
    """
    told: list[str] = []
    for finding in findings:
        _question, answer, *rows = finding.lines()
        assert answer.startswith("Answer:"), f"no answer: {answer[:200]!r}"
        for row in rows:
            number = _FACT.match(row)
            assert number, f"no fact: {row[:200]!r}"
            if row == f"[{number[1]}] as above":
                assert int(number[1]) <= len(told), f"not above: {row!r}"
                continue
            assert int(number[1]) == len(told) + 1, f"a forged fact: {row[:200]!r}"
            told.append(row[number.end() :])
    return told
