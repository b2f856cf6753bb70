"""Pure: names in a question: titles, and parts of titles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from drift.core.asked_words import words_in
from drift.core.spellings import cut_at_case
from drift.core.stop_words import ASKING_WORDS, STOP_WORDS, STOP_WORDS_OF_FOUR_LANGUAGES

MAX_TITLE_KEYS = 512
MAX_NAMES = 12  # parts of titles that a question is asked for
_MIN_NAME_CHARS = 3  # of a name of one word; shorter ones are titles of persons and letters

_COMMON_WORDS = STOP_WORDS_OF_FOUR_LANGUAGES | ASKING_WORDS


def normalised_title(title: str) -> str:
    """Return the key by which an entity's title is found, 1,000 characters at most.

    Case is folded, spaces are collapsed, and punctuation is cut off both ends, but for `_`, `+` and
    `#`: `__init__`, `C++` and `C#` remain themselves, and so does a title of punctuation alone.
    """
    return _key_of(plain_text(title))


def _key_of(plain: str) -> str:
    # An index refuses a value of more than 8,164 bytes, which a character is up to four of.
    return (_without_edges(plain) or plain)[:1000]


def plain_text(text: str) -> str:
    """Return a text as keys are compared with it: without case, on one line, in one normal form."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def document_key(title: str) -> str:
    """Return the key by which a document's title is found in texts; empty for what names nothing.

    A file's ending and brackets behind the title are no part of it: `Mercury (planet)` is found as
    `mercury`. What has fewer than four characters or over a hundred, or is a stop word, names
    nothing.
    """
    bare = re.sub(
        r"\s*\([^()]*\)\s*$|\.(?:csv|docx?|eml|html?|md|pdf|pptx?|rst|txt|xlsx?)$",
        "",
        title[:1000],
        flags=re.IGNORECASE,
    )
    key = normalised_title(bare)
    is_name = 4 <= len(key) <= 100 and key not in STOP_WORDS  # noqa: PLR2004 - as in texts
    return key if is_name else ""


def linking_keys(text: str, most: int) -> tuple[str, ...]:
    """Return the titles that a text may name: runs of up to six words that begin in a capital."""
    words = text[:20_000].split()
    found: dict[str, None] = {}
    for at, word in enumerate(words):
        if len(found) >= most:
            break
        if next(filter(str.isalnum, word), "").isupper():
            run = [*map(plain_text, words[at : at + 6])]
            for n in range(6, 0, -1):
                if key := _without_possessive(_key_of(" ".join(run[:n]))):
                    found[key] = None

    return tuple(found)[:most]


def _without_edges(text: str) -> str:
    start, end = 0, len(text)
    while start < end and _is_edge(text[start]):
        start += 1
    while end > start and _is_edge(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_edge(character: str) -> bool:
    is_sign = not character.isalnum() and character not in "_+#"
    return is_sign and unicodedata.category(character)[0] in "PSZC"


def title_keys(question: str) -> tuple[str, ...]:
    """Return the titles that a question may name, as keys: runs of one to six words, long first."""
    quotes = "`'\"‘’“”«»"
    words = question.split()
    plain = [*map(plain_text, words)]
    keys: dict[str, None] = {}
    for length in range(min(6, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            key = _key_of(" ".join(plain[start : start + length]))
            if key and (length > 1 or key not in STOP_WORDS or run[0][0] in quotes):
                keys.update(dict.fromkeys((key, _without_possessive(key))))

    # The shortest runs name most entities, so a long question gives up its longest runs first.
    return tuple(keys)[-MAX_TITLE_KEYS:]


def _without_possessive(key: str) -> str:
    return key[:-2] if key.endswith(("'s", "’s")) else key


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
        plain = re.sub(r"['\u2019]s\b", "", unicodedata.normalize("NFKC", name))
        for whole in words_in(plain.replace("_", " ")):
            words.update(dict.fromkeys(map(str.lower, (whole, *cut_at_case(whole)))))

    return " ".join(word for word in words if word not in held)


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


def shortened(name: str, most: int) -> str:
    """Return a name on a line, in so many characters: of words the first, of a path its end."""
    name = " ".join(name.split())
    if len(name) <= most:
        return name
    if " " not in name and "/" in name:
        return f"…{name[1 - most :]}"
    head = name[: most - 1]
    blank = head.rfind(" ")
    return f"{head[:blank] if 2 * blank > most else head}…"
