"""Pure: names in a question: words to search for, titles, and parts of titles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

from drift.core.folding import as_typed
from drift.core.stop_words import ASKING_WORDS, STOP_WORDS, STOP_WORDS_OF_FOUR_LANGUAGES

MAX_TERMS = 48
MAX_TOKENS = 400
"""The most tokens that an index may make of the terms. Lucene refuses a query of more than 1,024
clauses, and a token is one of them for the text of chunks and one for their headings."""
MAX_TITLE_KEYS = 512
MAX_NAMES = 12  # parts of titles that a question is asked for
_MIN_NAME_CHARS = 3  # of a name of one word; shorter ones are titles of persons and letters

# From Thai on, an analyser may cut a word into characters or pairs of them; others are cut where
# digits begin or end, and after 255 characters.
_TOKEN = re.compile(
    r"[\u0e00-\U0010ffff]|[^\W\d_\u0e00-\U0010ffff]{1,255}|[^\W\D\u0e00-\U0010ffff]{1,255}"
)
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_QUOTES = "`'\"‘’“”«»"
_COMMON_WORDS = STOP_WORDS_OF_FOUR_LANGUAGES | ASKING_WORDS


def normalised_title(title: str) -> str:
    """Return the key by which an entity's title is found, 1,000 characters at most.

    Case is folded, spaces are collapsed, and punctuation is cut off both ends, but for `_`, `+` and
    `#`: `__init__`, `C++` and `C#` remain themselves, and so does a title of punctuation alone.
    """
    folded = " ".join(unicodedata.normalize("NFKC", title).casefold().split())
    # An index refuses a value of more than 8,164 bytes, which a character is up to four of.
    return (_without_edges(folded) or folded)[:1000]


def _without_edges(text: str) -> str:
    start, end = 0, len(text)
    while start < end and _is_edge(text[start]):
        start += 1
    while end > start and _is_edge(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_edge(character: str) -> bool:
    return character not in "_+#" and unicodedata.category(character)[0] in "PSZC"


def title_keys(question: str) -> tuple[str, ...]:
    """Return the titles that a question may name, as keys: runs of one to six words, long first."""
    words = question.split()
    keys: dict[str, None] = {}
    for length in range(min(6, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            key = normalised_title(" ".join(run))
            if key and (length > 1 or key not in STOP_WORDS or run[0][0] in _QUOTES):
                keys.update(dict.fromkeys((key, _without_possessive(key))))

    # The shortest runs name most entities, so a long question gives up its longest runs first.
    return tuple(keys)[-MAX_TITLE_KEYS:]


def _without_possessive(key: str) -> str:
    return re.sub(r"['’]s$", "", key)


def search_terms(question: str) -> tuple[str, ...]:
    """Return the words worth a full-text search, in lower case, each once, at most 48.

    The last of them is cut where an index would make more than 400 tokens of all.
    """
    words = _words(unicodedata.normalize("NFKC", as_typed(question)).lower())
    searched = (w for w in words if w not in STOP_WORDS and any(map(str.isalnum, w)))
    wanted = tuple(dict.fromkeys(searched))
    return tuple(within_tokens(wanted[:MAX_TERMS], MAX_TOKENS))


def _words(text: str) -> list[str]:
    r"""Return the runs of letters, digits and `_` with their marks, of which `\w` knows nothing.

    They are vowels in Hindi and Thai, and a word without them is another one.
    """
    return "".join(
        sign if sign.isalnum() or sign == "_" or unicodedata.category(sign)[0] == "M" else " "
        for sign in text
    ).split()


def within_tokens(terms: Sequence[str], most: int) -> Iterator[str]:
    """Yield the first terms of which an index makes no more than so many tokens.

    The last one is cut where that is in its middle.
    """
    for word in terms:
        ends = [token.end() for token in islice(_TOKEN.finditer(word), most)]
        most -= len(ends)
        if not most:
            yield word[: ends[-1]]
            return
        yield word


def name_parts(question: str) -> tuple[str, ...]:
    """Return possible parts of titles: `mercer` for Alex Mercer, at most twelve, longest first.

    They are runs of one to three words in capitals without a common word, normalised as titles are.
    """
    found: dict[str, None] = {}
    for written in _capitalised_runs(question.split()):
        run = [_key(word) for word in written]
        for length in range(min(3, len(run)), 0, -1):
            for start in range(len(run) - length + 1):
                part = " ".join(run[start : start + length])
                if len(part) >= _MIN_NAME_CHARS:
                    found[part] = None

    return tuple(sorted(found, key=lambda part: -part.count(" ")))[-MAX_NAMES:]


def name_words(title: str, file: str, heading: str) -> str:
    """Return the words of a document's name that its chunk's heading does not hold as words.

    In lower case, each once. Words are cut at case, digits and all that is no letter, because
    `Artistic.txt`, `snake_case` and `camelCase` are one word to a full-text index; one that is cut
    stays beside its parts. The name is the title, and the file's name without its ending.
    """
    last = file.rpartition("/")[2]
    stem, dot, ending = last.rpartition(".")
    stem = stem if dot and re.fullmatch(r"\w{1,9}", ending) else ""
    held = {word.lower() for word in re.findall(r"\w+(?:[.'\u2019]\w+)*", heading)}
    words: dict[str, None] = {}
    for name in (stem if title == last and stem else title, stem):
        plain = _POSSESSIVE.sub("", unicodedata.normalize("NFKC", name))
        for whole in _words(plain.replace("_", " ")):
            words.update(dict.fromkeys(map(str.lower, (whole, *_cut_at_case(whole)))))

    return " ".join(word for word in words if word not in held)


def _cut_at_case(word: str) -> Iterator[str]:
    """Yield the parts of a word: `HTTPServer2` is HTTP, Server and 2."""
    start = 0
    for at in range(1, len(word)):
        before, here, after = word[at - 1], word[at], word[at + 1 : at + 2]
        begins = here.isupper() and (not before.isupper() or after.islower())
        if begins or here.isdigit() != before.isdigit():
            yield word[start:at]
            start = at

    yield word[start:]


def proper_names(text: str) -> tuple[str, ...]:
    """Return the runs of words in capitals as they are written, each once, in their order."""
    runs = (" ".join(run) for run in _capitalised_runs(text.split()))
    names = (_without_possessive(_without_edges(run)) for run in runs)
    return tuple(dict.fromkeys(name for name in names if len(name) >= _MIN_NAME_CHARS))


def _capitalised_runs(words: Sequence[str]) -> Iterator[list[str]]:
    run: list[str] = []
    for word in words:
        key = _key(word)
        begins_high = next(filter(str.isalnum, word), "").isupper()
        if not begins_high or len(key) < 2 or key in _COMMON_WORDS:  # noqa: PLR2004 - a letter alone
            yield run
            run = []
            continue
        run.append(word)
        if _is_edge(word[-1]):
            yield run
            run = []

    yield run


def _key(word: str) -> str:
    return _without_possessive(normalised_title(word))


def without_name(heading: str, name: str) -> str:
    """Return a path of headings on a line, without the document's own name in front of it."""
    parts = [" ".join(part.split()) for part in heading.split(" > ")]
    own = " ".join(name.split()).casefold()
    while parts and parts[0].casefold() == own:
        del parts[0]
    return " > ".join(parts)
