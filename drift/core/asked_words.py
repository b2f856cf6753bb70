"""Pure: a question's words as a full-text index has them: plain ones, names, what is quoted."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise

from drift.core.folding import as_typed
from drift.core.spellings import ENDINGS, names_in, spelled
from drift.core.stop_words import ASKING_WORDS, FILLERS, STOP_WORDS

MAX_TERMS = 48
MAX_TOKENS = 400
"""The most tokens that an index may make of the terms. Lucene refuses a query of more than 1,024
clauses, and a token is one of them for the text of chunks and one for their headings."""

# From Thai on, an analyser may cut a word into characters or pairs of them; others are cut where
# digits begin or end, and after 255 characters.
_TOKEN = re.compile(
    r"[\u0e00-\U0010ffff]|[^\W\d_\u0e00-\U0010ffff]{1,255}|[^\W\D\u0e00-\U0010ffff]{1,255}"
)
_ENDING = re.compile(rf"['\u2019](?:{ENDINGS}|t)\b", re.IGNORECASE)  # also that of `don't`
_QUOTED = re.compile(
    '["\u201c\u201e\u00ab`]([^"\u201c\u201d\u201e\u00ab\u00bb`]{1,80})["\u201c\u201d\u00bb`]'
    r"|(?<!\w)['\u2018](\w{1,40})['\u2019](?!\w)"
)
_LONGEST_ALONE = 40
_FRACTION = re.compile(r"\d+[.,]\d+")
_OTHER_SIGNS = str.maketrans("'\u2019", "\u2019'")
_IN_TITLES = (STOP_WORDS - FILLERS) | set("and as at by for from in on or with".split())  # noqa: SIM905


def search_terms(question: str) -> tuple[str, ...]:
    """Return the words worth a full-text search, in lower case, each once.

    They are at most 48 of the question, stop words only where they are quoted alone, and at most 48
    other spellings of its names. The last is cut where an index would make more than 400 tokens of
    all.
    """
    typed = _as_asked(question)
    quoted = _quoted_stop_words(typed)
    words = dict.fromkeys(words_in(_ENDING.sub("", typed).lower()))
    plain = [w for w in words if (w not in STOP_WORDS or w in quoted) and any(map(str.isalnum, w))]
    others = islice((word for name in names_in(typed) for word in spelled(name)), MAX_TERMS)
    wanted = dict.fromkeys((*plain[:MAX_TERMS], *others))
    return tuple(within_tokens(tuple(wanted), MAX_TOKENS))


def phrases(question: str) -> tuple[str, ...]:
    """Return the names with signs and the quotations of a question as they are typed, at most 16.

    A name also has the signs that others write: `3.5` for `3,5`.
    """
    typed = _as_asked(question)
    named = (name for name in names_in(typed) if not name.rstrip("+#").replace("_", "").isalnum())
    written = [spelling for name in named for spelling in (name, _otherwise(name))]
    quoted = (" ".join(run.split()) for run in _quoted(typed))
    return tuple(dict.fromkeys((*written, *(run for run in quoted if " " in run))))[:16]


def _otherwise(name: str) -> str:
    is_fraction = _FRACTION.fullmatch(name)
    return name.translate({44: ".", 46: ","} if is_fraction else _OTHER_SIGNS)


def joined_neighbours(question: str) -> Iterator[str]:
    """Yield what two, three or four words side by side are as one name: `max_size`, `dyn.load`."""
    words = words_in(_as_asked(question).replace("_", " ").lower())[:MAX_TERMS]
    for length in (2, 3, 4):
        for run in zip(*(words[start:] for start in range(length)), strict=False):
            if STOP_WORDS.isdisjoint(run) and not "".join(run).isdecimal():
                yield from (sign.join(run) for sign in ("_", ".", ""))


def title_pairs(question: str) -> tuple[str, ...]:
    """Return a word with the stop word before it, as in `with statement`, at most eight."""
    pairs = pairwise(words_in(_as_asked(question).lower()))
    found = (f"{a} {b}" for a, b in pairs if a in _IN_TITLES and b not in STOP_WORDS)
    return tuple(islice(dict.fromkeys(found), 8))


def wanted_alone(question: str) -> tuple[str, ...]:
    """Return at most eight words and names of which each may decide alone, the oddest first."""
    typed = _as_asked(question)
    quoted = _quoted_stop_words(typed)
    found = [name for name in names_in(typed) if len(name) <= _LONGEST_ALONE]
    inside = {part for name in found for part in words_in(name.lower())}
    # Of `C++` the index knows `c` alone.
    names = [next(spelled(name)) if name[-1] in "+#" else name for name in found]
    plain = dict.fromkeys(words_in(_ENDING.sub("", typed).lower()))
    common = (STOP_WORDS | ASKING_WORDS | inside) - quoted.keys()
    words = [one for one in plain if one not in common and 2 < len(one) <= _LONGEST_ALONE]  # noqa: PLR2004
    return tuple(dict.fromkeys((*names, *quoted, *sorted(words, key=len, reverse=True))))[:8]


def words_in(text: str) -> list[str]:
    r"""Return the runs of letters, digits and `_` with their marks, of which `\w` knows nothing.

    They are vowels in Hindi and Thai, and a word without them is another one.
    """
    return _signs_without(text, "_").split()


def within_tokens(terms: Iterable[str], most: int) -> Iterator[str]:
    """Yield the first terms of which an index makes no more than so many tokens.

    The last one is cut where that is in its middle.
    """
    for word in terms if most > 0 else ():
        ends = [token.end() for token in islice(_TOKEN.finditer(word), most)]
        most -= len(ends)
        if not most:
            yield word[: ends[-1]]
            return
        yield word


def tokens_of(terms: Iterable[str]) -> int:
    """Return how many tokens an index makes of the terms, at most."""
    return sum(len(_TOKEN.findall(term)) for term in terms)


def _as_asked(question: str) -> str:
    return unicodedata.normalize("NFKC", as_typed(question))


def _signs_without(text: str, kept: str) -> str:
    """Return a text with a space in the place of all signs but these."""
    return "".join(
        sign if sign.isalnum() or sign in kept or unicodedata.category(sign)[0] == "M" else " "
        for sign in text
    )


def _quoted(typed: str) -> Iterator[str]:
    found = (match[1] or match[2] for match in _QUOTED.finditer(typed))
    return (_signs_without(run, "-.:&@'\u2019+#,_") for run in found)


def _quoted_stop_words(typed: str) -> dict[str, None]:
    """Return the stop words that stand in quotation marks without another word."""
    runs = (words_in(run.lower()) for run in _quoted(typed))
    return dict.fromkeys(word for run in runs if STOP_WORDS.issuperset(run) for word in run)
