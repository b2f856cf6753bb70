"""Pure: names with signs, case or digits inside, and the words under which people look for them.

A full-text index keeps some of them whole (`dyn.load`, `MAX_SIZE`) and cuts others (`BW-1280`), so
a text and a question have the same further words: parts, and the name without its signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from drift.core.folding import as_typed
from drift.core.stop_words import STOP_WORDS

# Each sign inside a name has a letter or digit on both sides, so nothing is looked at twice.
_NAME = re.compile(r"\w+(?:(?:[-.:&@'\u2019]{1,2}|(?<=\d),(?=\d))\w+)*(?:(?:\+\+|#)(?!\w))?")
_TOKEN = re.compile(r"\w+(?:(?:[.:'\u2019]|(?<=\d),(?=\d))\w+)*")
"""What the index makes one word of, as near as matters."""
ENDINGS = "s|ll|re|ve|d|m"
"""What stands behind the apostrophe of a word and is no part of it."""
_ENDING = re.compile(rf"['\u2019](?:{ENDINGS})$", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:[.,'\u2019]\d{3})+")
_VERSION = re.compile(r"[a-z]{1,2}(\d+(?:\.\d+)+)")
_LONGEST_NAME = 128  # characters; a longer one is data
_MOST_WORDS = 256
"""Further words of one text."""


def names_in(text: str) -> Iterator[str]:
    """Yield the names of a text, as they are written; no plain words and no plain numbers."""
    for found in _NAME.finditer(text):
        name = found[0]
        rest = name[1:]
        is_plain = name.isdecimal() or (name.isalpha() and rest in {rest.lower(), rest.upper()})
        if not is_plain and len(name) <= _LONGEST_NAME and any(map(str.isalnum, name)):
            yield name


def spelled(name: str) -> Iterator[str]:
    """Yield the further words of a name in lower case; none for a plain word.

    `dyn.load` is dyn, load and dynload, `C++` cplusplus, `v1.2.3` 1.2.3, and `1,000` 1000.
    """
    plain = name.lower()
    if plain.endswith(("++", "#")):
        yield plain.replace("++", "plusplus").replace("#", "sharp")
        return
    pieces = re.split(r"[\W_]+", _ENDING.sub("", name))
    if not any(sign.isalpha() for sign in plain):
        joined = "".join(pieces)
        if _GROUPED.fullmatch(plain) or (len(pieces) > 2 and len(joined) > 5):  # noqa: PLR2004
            yield joined
        yield from (one for one in pieces if 3 < len(one) < len(plain))  # noqa: PLR2004 - years
        return

    parts = dict.fromkeys(pieces)
    parts |= dict.fromkeys(part for piece in pieces for part in cut_at_case(piece))
    for part in (*parts, "".join(pieces), *_VERSION.findall(plain)):
        word = part.lower()
        if 1 < len(word) != len(plain) and word not in STOP_WORDS:
            yield word


def spellings(text: str) -> str:
    """Return the further words of a text's names that it does not hold as words, each once."""
    plain = as_typed(text)
    held = {token.lower() for token in _TOKEN.findall(plain)}
    words: dict[str, None] = {}
    for name in islice(names_in(plain), 2000):
        words.update(dict.fromkeys(word for word in spelled(name) if word not in held))
        if len(words) >= _MOST_WORDS:
            break
    return " ".join(tuple(words)[:_MOST_WORDS])


def cut_at_case(word: str) -> Iterator[str]:
    """Yield the parts of a word: `HTTPServer2` is HTTP, Server and 2."""
    start = 0
    for at in range(1, len(word)):
        before, here, after = word[at - 1], word[at], word[at + 1 : at + 2]
        begins = here.isupper() and (not before.isupper() or after.islower())
        if begins or here.isdigit() != before.isdigit():
            yield word[start:at]
            start = at

    yield word[start:]
