"""Pure: the words of who wrote a message, and those of earlier ones that it quotes."""

from __future__ import annotations

import re

from drift.local.ingest.formats.page_blocks import as_markdown, blocks_of

BELOW = "## Below the head of an earlier message"
QUOTED = "## Quoted from an earlier message"
"""The heading of what a message quotes, at its end."""

_SAYS = r"\b(?:wrote|schrieb|écrit|escribió|scritto|schreef|skrev)\b"
_ON = rf"^(?:on|am|le|el|il|op|den) .{{3,300}}(?:\n.{{0,300}})?{_SAYS}.{{0,200}}:[ \t]*\n"
_FLAGS = re.MULTILINE | re.IGNORECASE
_CITED = re.compile(rf"(?:{_ON}\s*)?(?:^>.*\n?)+", _FLAGS)
_ORIGINAL = re.compile(
    r"^(?:[ \t*_]{0,8}(?:"
    r"-{3,40} ?(?:original message|forwarded message|ursprüngliche nachricht|weitergeleitete "
    r"nachricht|message d'origine|message transféré)"
    r"|begin forwarded message:"
    r"|(?:from|von|de) ?:.{1,300}\n(?:.{0,300}\n){0,2}[*_]{0,4}"
    r"(?:sent|date|gesendet|datum|envoyé) ?:"
    rf")|(?=\w{{2,3}} .{{3,300}}(?:\n.{{0,300}})?@){_ON}(?!\s*^>))",
    _FLAGS,
)
"""A line from which on most is an earlier message's."""
_TAG = re.compile(r"<blockquote\b([^<>]*)>|</blockquote\s*>", re.IGNORECASE)


def with_marks(text: str) -> str:
    """Return a text with `>` before each line."""
    return re.sub(r"^", "> ", text, flags=re.MULTILINE)


def page_with_quotes(html: str) -> str:
    """Return a message that is a page as Markdown, with `>` before the lines that it cites."""
    parts: list[str] = []
    depth = at = 0
    for tag in (*_TAG.finditer(html), None):
        told = as_markdown(blocks_of(html[at : tag.start() if tag else len(html)]).blocks)
        parts.append(with_marks(told) if depth and told else told)
        if tag and tag[1] is None:
            depth -= depth > 0
        elif tag and (depth or re.search("cite|quote", tag[1])):
            depth += 1
        at = tag.end() if tag else at
    return "\n\n".join(filter(None, parts))


def without_quotes(text: str) -> tuple[str, str, str]:
    """Return the words of a message's writer, what stands below the head of another, and quotes.

    Between the words of an earlier message without marks, its reader may have answered.
    """
    found = _ORIGINAL.search(text)
    text, rest = (text[: found.start()], text[found.start() :]) if found else (text, "")
    cited = [re.sub(r"^> ?", "", one[0], flags=re.MULTILINE) for one in _CITED.finditer(text)]
    words = re.sub(r"\n\s*\n", "\n\n", _CITED.sub("\n", text))
    return words.strip(), rest.strip(), "\n\n".join(filter(None, map(str.strip, cited)))
