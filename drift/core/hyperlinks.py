"""Pure: the links of a text in Markdown, and the documents that they lead to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote, urljoin

Link = tuple[str, str]
"""The words of a link, and what it leads to."""

LONGEST_TARGET = 500
"""Characters of what leads to a document."""
FEWEST_CHARACTERS = 3
"""Of a link's words: shorter ones stand anywhere in a text."""
MOST_OF_A_CHUNK = 50
"""Links that are looked at, stored and read."""

_PART = r"[^\s<>()\"'`|\\^{}\[\]]"
_LINK = re.compile(
    rf"(!?)\[([^\[\]\n]{{1,200}})\]\((?:<([^<>\n]{{1,500}})>|((?:{_PART}|\({_PART}*\))+))"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!//)")


def links_in(markdown: str) -> Iterator[Link]:
    """Yield the links of a text in Markdown, without pictures."""
    for picture, words, told, bare in _LINK.findall(markdown) if "](" in markdown else ():
        if not picture:
            yield words, told or bare


def target_of(told: str) -> str:
    """Return the path or address in a link as it is written; empty for one within its page."""
    told = re.sub(r"[\t\r\n]", "", told).strip().partition("#")[0]
    return "" if len(told) > LONGEST_TARGET or _SCHEME.match(told) else told


def below_itself(target: str, document_id: str, address: str) -> str:
    """Return a target as a path from the top, where the document stands at an address below it."""
    top = address.removesuffix(document_id)
    return f"/{target.removeprefix(top)}" if top != address and target.startswith(top) else target


def document_at(target: str, document_id: str) -> str:
    """Return the id of the document to which a link in another one leads; empty for none.

    Ids are paths below their source, or addresses. A path is seen from the other document, and one
    that begins with a stroke from the top; a folder's page is its `index.html`. Of two sources with
    files of one name it may be the other's.
    """
    if "://" in target or "://" in document_id:
        try:
            return urljoin(document_id, target)
        except ValueError:  # such as http://[
            return ""
    path = unquote(target.partition("?")[0])
    folder = "" if path.startswith("/") else posixpath.dirname(document_id)
    page = "index.html" if path.endswith("/") else ""
    return posixpath.normpath(f"/{folder}/{path}{page}").lstrip("/") if path else ""
