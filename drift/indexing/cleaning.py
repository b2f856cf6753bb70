"""Pure: a page's text as a person reads it, without links, banners, menus and buttons.

What is dropped leaves its lines empty, so that every other line keeps its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TARGET = r"\((?:[^()\s]|\([^()\s]*\))*(?:[^\S\n]+\"[^\"\n]*\")?[^\S\n]*(?:\)|$)"
_NUMBER = r"(?:Image \d++(?::\s*+)?)?"  # that a reader of web pages gives to every picture
_IMAGE = re.compile(rf"!\[{_NUMBER}([^\[\]\n]*)\]{_TARGET}", re.MULTILINE)
_LINK = re.compile(rf"\[([^\[\]]*)\]{_TARGET}", re.MULTILINE)
_MACHINERY = re.compile(rf"(?<=\]){_TARGET}|!\[[^\[\]\n]*\](?={_TARGET})", re.MULTILINE)
_OPENS, _CLOSES = "\ue000", "\ue001"
_LINKED = re.compile(rf"{_OPENS}([^{_OPENS}{_CLOSES}]*){_CLOSES}")

_HEADING = re.compile(r"#{1,6}[^\S\n]")
_MARKS_OF_A_LINE = re.compile(r"^[\s*+•>|#_-]+", re.MULTILINE)

_BANNER = re.compile(
    r"\b(?:uses? (?:of )?cookies|(?:accept|manage|reject) (?:all |my )?cookies"
    r"|cookies? (?:policy|settings|consent|preferences|notice|statement|details|list)"
    r"|(?:performance|functional|targeting|advertising|(?:strictly )?necessary) cookies"
    r"|consent preferences|privacy (?:policy|notice|statement|settings)"
    r"|terms (?:of (?:use|service)|(?:&|and) conditions)"
    r"|(?:enable|disabled?|requires?) java ?script|all rights reserved"
    r"|skip to (?:main )?(?:content|navigation)|copyright ©?\s?\d{4})"
    r"|©",
    re.IGNORECASE,
)
_BUTTON = re.compile(
    r"\b(?:sign (?:in|up)|log (?:in|out)|subscribe|share|tweet|advertisement|newsletters?"
    r"|read more|click here|contact us|about us|follow us|site ?map|wayback machine|captures?)\b",
    re.IGNORECASE,
)
_LONGEST_BANNER, _LONGEST_BUTTON = 400, 40
_MOST_LINKED, _SENTENCE_WORDS = 0.6, 12


def is_crawled(text: str) -> bool:
    """Tell whether so much of a text is link targets and pictures that it is a page of the web."""
    # The share of a text's characters in link targets and pictures from which it is a crawled page.
    least_machinery = 0.1
    if "](" not in text:
        return False
    machinery = sum(found.end() - found.start() for found in _MACHINERY.finditer(text))
    return machinery >= least_machinery * len(text) > 0


def clean(text: str) -> str:
    """Return the text with links and pictures as their words, as many lines as before.

    Blocks that are mostly links and no sentence, banners and buttons are left empty; a block is a
    paragraph, one item of a list, or one row of a table. Code between fences stays as it is.
    """
    return "\n".join(block if is_code else _clean(block) for block, is_code in _blocks(text))


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Yield runs of lines that belong together, and whether each is code."""
    block: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = re.match(r"[^\S\n]*(?:```|~~~)", line)
        if fence:
            block.append(line)
            if found and found[0].strip() == fence:
                yield "\n".join(block), True
                block, fence = [], ""
            continue

        begins = (
            not line.strip() or found or re.match(r"[^\S\n]*(?:[*+•-]|\d{1,3}[.)])[^\S\n]", line)
        )
        if block and (begins or _HEADING.match(line) or _stands_alone(block[-1])):
            yield "\n".join(block), False
            block = []
        block.append(line)
        fence = found[0].strip() if found else ""

    if block:
        yield "\n".join(block), bool(fence)


def _stands_alone(line: str) -> bool:
    return not line.strip() or _is_of_a_text(line)


def _is_of_a_text(line: str) -> bool:
    """Tell whether a line is a heading or a row of a table: its links are no menu."""
    return bool(_HEADING.match(line) or re.match(r"[^\S\n]*\|.*\|", line))


def _clean(block: str) -> str:
    """Return a block's words; none of one that is a menu, a banner or a button."""
    if "](" in block:
        block = _unmarked(block)
        marked = _LINK.sub(_marked, _IMAGE.sub(_marked, block))
        bare = _unmarked(marked)
        if not _is_of_a_text(block) and _is_menu(marked, bare):
            return "\n" * block.count("\n")
        block = bare

    words = _MARKS_OF_A_LINE.sub("", block).strip()
    is_banner = len(words) <= _LONGEST_BANNER and _BANNER.search(words)
    is_button = len(words) <= _LONGEST_BUTTON and _BUTTON.search(words)
    return "\n" * block.count("\n") if is_banner or is_button else block


def _marked(found: re.Match[str]) -> str:
    return f"{_OPENS}{_unmarked(found[1])}{_CLOSES}"


def _unmarked(text: str) -> str:
    return text.replace(_OPENS, "").replace(_CLOSES, "")


def _is_menu(marked: str, bare: str) -> bool:
    words = _MARKS_OF_A_LINE.sub("", bare)
    linked = sum(len(text) for text in _LINKED.findall(marked))
    is_sentence = len(words.split()) >= _SENTENCE_WORDS and words.rstrip()[-1:] in ".!?"
    return linked > _MOST_LINKED * (len(words.strip()) or 1) and not is_sentence
