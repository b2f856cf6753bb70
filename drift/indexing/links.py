"""Pure: the addresses of the web that a text names, or that its links lead to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from urllib.parse import urlsplit

from drift.core.source_uri import MOST_CHARACTERS, is_shown
from drift.graph.writing.records import Definition

URL = "URL"
"""The label of an address in the graph."""
MOST_OF_A_CHUNK, MOST_OF_A_DOCUMENT = 50, 500
_FEWEST_CHARACTERS = 3
"""Of a link's words: what is shorter stands anywhere in a text."""

Link = tuple[str, str]
"""The words of a link, and what it leads to."""
PlacedLink = tuple[int, Definition]
"""The character of a text at which the words of a link stand, and the address."""

_ADDRESS = re.compile(
    r"(?:(!?)\[([^\[\]\n]{1,200})\]\()?(?<![\w/.+])(https?://[^\s<>\"'`|\\^{}\[\]]+)"
)
_BEHIND = ".,;:!?*_"


def addresses_in(text: str) -> tuple[Definition, ...]:
    """Return the addresses in a text, each once, with the words of its link as its description.

    Pictures are left out, and so are addresses with a password or a signature in them. What stands
    behind a `#` is no part of an address.
    """
    found: dict[str, str] = {}
    for picture, words, told in _ADDRESS.findall(text):
        address = _address(told)
        if address and not picture:
            found[address] = found.get(address) or ("" if "://" in words else words.strip())
            if len(found) == MOST_OF_A_CHUNK:
                break
    return tuple(Definition(URL, address, "page", words) for address, words in found.items())


def links_in(markdown: str) -> Iterator[Link]:
    """Yield the links to the web of a text in Markdown, without pictures."""
    for picture, words, told in _ADDRESS.findall(markdown):
        if words and not picture:
            yield words, told


def place_links(text: str, links: Iterable[Link]) -> tuple[PlacedLink, ...]:
    """Return where the words of links stand in a text that has them alone, in their order."""
    placed: list[PlacedLink] = []
    behind = 0
    for words, told in islice(links, MOST_OF_A_DOCUMENT):
        said, address = " ".join(words.split()), _address(told)
        if not address or len(said) < _FEWEST_CHARACTERS:
            continue
        at = text.find(said, behind)
        at = text.find(said) if at < 0 else at
        if at >= 0:
            behind = at
            placed.append((at, Definition(URL, address, "page", said)))
    return tuple(placed)


def _address(told: str) -> str:
    """Return an address as it is told apart from others; empty for what is none to follow."""
    if len(told) > MOST_CHARACTERS:
        return ""
    told = told.partition("#")[0].rstrip(_BEHIND)
    while told.endswith(")") and told.count(")") > told.count("("):
        told = told[:-1].rstrip(_BEHIND)
    if not is_shown(told):
        return ""
    parts = urlsplit(told)
    if "." not in parts.netloc:
        return ""
    return parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/").geturl()
