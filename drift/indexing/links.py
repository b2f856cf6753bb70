"""Pure: the addresses of the web that a text names, or that its links lead to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from urllib.parse import urlsplit

from drift.core.hyperlinks import FEWEST_CHARACTERS, MOST_OF_A_CHUNK, Link, target_of
from drift.core.source_uri import MOST_CHARACTERS, is_shown
from drift.graph.writing.records import Definition

URL = "URL"
"""The label of an address in the graph."""
MOST_OF_A_DOCUMENT = 500

PlacedLink = tuple[int, str, str]
"""The character of a text at which the words of a link stand, these, and what it leads to."""

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


def place_links(text: str, links: Iterable[Link]) -> tuple[PlacedLink, ...]:
    """Return where the words of links stand in a text that has them alone, in their order."""
    placed: list[PlacedLink] = []
    behind = 0
    for words, told in islice(links, MOST_OF_A_DOCUMENT):
        said = " ".join(words.split())
        if not (_address(told) or target_of(told)) or len(said) < FEWEST_CHARACTERS:
            continue
        at = text.find(said, behind)
        at = text.find(said) if at < 0 else at
        if at >= 0:
            behind = at
            placed.append((at, said, told))
    return tuple(placed)


def address_of(link: Link) -> tuple[Definition, ...]:
    """Return the address of the web to which a link leads; nothing for any other."""
    words, told = link
    address = _address(told)
    return (Definition(URL, address, "page", words),) if address else ()


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
