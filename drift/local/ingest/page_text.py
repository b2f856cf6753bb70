"""Pure: what a person reads of a chunk, without the machinery of a web page.

The stored text stays as it is; only entities, relations and summaries are made from this view.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from drift.local.ingest.graph_records import ChunkRecord

DOCUMENTS_OF_A_BANNER = 3
"""A line that so many different documents hold is the site's, not a document's."""

_TARGET = r"\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\s*(?:\)|$)"
_IMAGE = re.compile(rf"!\[[^\]\n]*(?:\](?:{_TARGET})?|$)", re.MULTILINE)
_LINK = re.compile(rf"\[([^\[\]]*)\]{_TARGET}")
_OPENS, _CLOSES = "\ue000", "\ue001"
_LINKED = re.compile(rf"{_OPENS}([^{_OPENS}{_CLOSES}]*){_CLOSES}")
_NO_WORDS = re.compile(
    r"</?(?:a|abbr|article|b|br|button|center|div|em|font|footer|form|h[1-6]|header|i|iframe|img"
    r"|input|label|li|link|meta|nav|noscript|ol|option|p|path|script|section|select|small|span"
    r"|strong|style|sub|sup|svg|table|tbody|td|tfoot|th|thead|tr|u|ul)(?:\s[^<>]*)?/?>"
    r"|(?:https?://|www\.)[^\s<>\"')\]]+"
    r"|[\w.+-]+@[\w-]+\.[\w.-]+"
    r"|(?<![\w`.])[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|gov|edu|html?|php|aspx?|pdf|png|jpe?g"
    r"|gif|svg|webp|css|co\.uk|ac\.uk|gov\.\w\w|info)(?:/\S*)?(?![\w(])"
    r"|[!-~]*(?:%[0-9A-Fa-f]{2}|[?&]\w+=)[!-~]*"
    r"|[!-~]{60,}",
    re.IGNORECASE,
)
_MACHINERY = re.compile(r"\]\(|!\[|<\w|</|://|www\.|@|\w\.\w|%[0-9A-Fa-f]{2}|[?&]\w+=|[!-~]{60}")
_LIST_MARK = re.compile(r"[\s*+•>|#-]+")
_LINE_ENDS = "|" + "".join(filter(str.isspace, map(chr, range(0x3001))))
_LETTERS = re.compile(r"^(?!```|~~~).*[^\W\d_]{2}")
"""Lines of rulers, numbers and fences are never shared ones: they hold the text together."""

_BANNER = re.compile(
    r"\b(?:uses? (?:of )?cookies|(?:accept|manage|reject) (?:all |my )?cookies"
    r"|cookies? (?:policy|settings|consent|preferences|notice|statement)"
    r"|privacy (?:policy|notice|statement|settings)"
    r"|terms (?:of (?:use|service)|(?:&|and) conditions)"
    r"|(?:enable|disabled?|requires?) java ?script|all rights reserved"
    r"|skip to (?:main )?(?:content|navigation)"
    r"|(?:performance|functional|targeting|advertising|(?:strictly )?necessary) cookies"
    r"|cookie (?:details|list)|consent preferences"
    r"|©|copyright ©?\s?\d{4})",
    re.IGNORECASE,
)
_BUTTON = re.compile(
    r"\b(?:sign (?:in|up)|log (?:in|out)|subscribe|share|tweet|advertisement|newsletters?"
    r"|read more|click here|contact us|about us|follow us|site ?map|wayback machine|captures?)\b",
    re.IGNORECASE,
)
_LONGEST_BANNER, _LONGEST_BUTTON = 400, 40
_MOST_LINKED, _SENTENCE_WORDS = 0.6, 12


def readable(text: str) -> str:
    """Return the text without images, link targets, addresses and tags.

    Lines that are mostly links, and those of banners, are left empty.
    """
    if not _MACHINERY.search(text):
        return "\n".join(map(_without_banner, text.split("\n")))
    marked = _LINK.sub(rf"{_OPENS}\1{_CLOSES}", _IMAGE.sub("", text))
    return "\n".join(_without_banner(_own_words(line)) for line in marked.split("\n"))


def repeated_lines(chunks: Sequence[ChunkRecord], texts: Sequence[str]) -> frozenset[str]:
    """Return the lines that several different documents hold, as `line_key` writes them.

    Copies of one document count as one.
    """
    by_document: defaultdict[str, list[str]] = defaultdict(list)
    for chunk, text in zip(chunks, texts, strict=True):
        by_document[chunk.document_id].extend(_keys(text))
    different = {tuple(lines) for lines in by_document.values()}
    held_by = Counter(chain.from_iterable(map(set, different)))
    return frozenset(line for line, count in held_by.items() if count >= DOCUMENTS_OF_A_BANNER)


def without_lines(text: str, repeated: frozenset[str]) -> str:
    """Return the text with the repeated lines left empty."""
    return "\n".join("" if line_key(line) in repeated else line for line in text.split("\n"))


def line_key(line: str) -> str:
    """Return a line's words, the same for all ways to mark it as an item or heading."""
    return _unmarked(line).casefold()


def _unmarked(line: str) -> str:
    mark = _LIST_MARK.match(line)
    return (line[mark.end() :] if mark else line).rstrip(_LINE_ENDS)


def _keys(text: str) -> Iterator[str]:
    return (key for line in text.split("\n") if _LETTERS.search(key := line_key(line)))


def _own_words(line: str) -> str:
    """Return the line's words; none when it is mostly links and no sentence."""
    if _OPENS in line:
        linked = _LINKED.findall(line)
        bare = _LINKED.sub(r" \1 ", line)
        own = len(_unmarked(bare)) or 1
        if sum(map(len, linked)) > _MOST_LINKED * own and not _is_text(bare):
            return ""
        line = _LINKED.sub(r"\1", line).replace(_OPENS, "").replace(_CLOSES, "")
    return _NO_WORDS.sub(" ", line)


def _is_text(line: str) -> bool:
    return len(line.split()) >= _SENTENCE_WORDS and line.rstrip()[-1:] in ".!?"


def _without_banner(line: str) -> str:
    if len(line) <= _LONGEST_BUTTON and _BUTTON.search(line):
        return ""
    return "" if len(line) <= _LONGEST_BANNER and _BANNER.search(line) else line


def all_readable(chunks: Sequence[ChunkRecord]) -> tuple[list[str], frozenset[str]]:
    """Return what a person reads of each chunk, and the lines that documents share: not read."""
    texts = [readable(chunk.text) for chunk in chunks]
    repeated = repeated_lines(chunks, texts)
    return [without_lines(text, repeated) for text in texts], repeated
