"""Pure: texts compared: as words, by their letters, and as questions."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from drift.core.folding import UNSPACED, as_typed
from drift.core.names import proper_names
from drift.core.stop_words import FILLERS
from drift.evidence.figure_text import any_of
from drift.evidence.figure_words import CARDINALS, MONTHS, SCALES, UNITS
from drift.model.tree import Question

STEM_LETTERS = 4

_WORD = re.compile(r"\w+")
_ENDING_LETTERS = 3


# ----------------------------------------------------------------------------- words and letters


def folded(text: str) -> str:
    """Return a text without case and accents; signs that make another letter of one stay."""
    plain = as_typed(text).casefold()
    if plain.isascii():
        return plain
    plain = unicodedata.normalize("NFKD", plain).casefold()
    plain = re.sub("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]", "", plain)
    return re.sub(
        "[\u3040-\u30ff][\u3099\u309a]", lambda kana: unicodedata.normalize("NFC", kana[0]), plain
    )


_EXACT = frozenset(
    map(
        folded,
        """
neither never no nobody none nor not nothing nowhere without
kein keine keinem keinen keiner keines nicht nichts nie niemals niemand ohne
aucun aucune jamais ne pas rien sans
nada nadie ninguna ninguno nunca sin
ない なか なく ません 不 未 没 沒 无 無 非 否 别 別 ไม่

above after before below except few fewer least less more most only over since under unless until
ab außer bis höchstens mehr mindestens nach nur seit über unter vor weniger
après avant depuis jusqu moins plus sauf seulement sous sur
antes bajo desde después excepto hasta más menos salvo sobre solo
上 下 前 後 后 内 外 多 少 超 只 仅 僅 から だけ のみ まで กว่า ก่อน หลัง มาก น้อย สูง ต่ำ เพียง
""".split(),
    )
)
"""Negations and bounds: one of them makes another statement of the same other words."""
_MEASURES = frozenset(map(folded, {*CARDINALS, *SCALES, *UNITS, *MONTHS}))
_EAST = any_of(word for word in _EXACT if word > "\u0e00")
_UNIT_SIGNS, _RELATIONS = "%‰°$¢£¥€₩₹₽", "<>=±≠≤≥"
_LETTERS = rf"[^\W\d_{UNSPACED}]"
# Most words are told by what ends them, and most signs between words begin none: looked at first.
_BETWEEN = r" \n.,;:()'\""
_TOKEN = re.compile(
    rf"[a-z]++(?=[{_BETWEEN}])|(?=[^{_BETWEEN}])(?:"
    # The scripts of India have vowels that are signs of their own.
    rf"{_LETTERS}++(?:[\u0900-\u0963\u0966-\u0dff]++{_LETTERS}*+)*+(?:(?:\+\+?|#)(?![^\W_]))?"
    rf"|(?:(?<![^\W_{UNSPACED}])-)?\d+(?:[.,:/'-]\d+)*"
    rf"|(?=[{UNSPACED}])(?:{_EAST}|.)"
    rf"|[{_UNIT_SIGNS}]"
    rf"|(?=[!{_RELATIONS}])(?:(?<=[\w)])|(?<=[\w)] ))(?:!=|[{_RELATIONS}]+)(?= ?[\w(-]))"
)


def tokens(text: str) -> list[str]:
    """Return the words and numbers of a text, folded, with the signs that make others of them.

    These are signs as in `-5`, `1.5`, `5 %`, `C#` and `x < 5`; what parts thousands is left out. Of
    scripts that set no space between words each letter is one.
    """
    plain = folded(text)
    if not plain.isascii():
        signs = zip("\u2010\u2011\u2012\u2013\u2014\u2212\u2019\u2044", "------'/", strict=True)
        for sign, plainer in signs:
            plain = plain.replace(sign, plainer)
    if "n't" in plain or "can" in plain:
        plain = re.sub(r"\b(can)(?:'t|not)\b|n't\b", r"\1 not", plain)
    return _TOKEN.findall(
        re.sub(
            r"\d(?<![\w.,]\d)\d{0,2}([ .,'])\d{3}(?:\1\d{3}){0,4}+(?!\1?\d)",
            lambda one: one[0].replace(one[1], ""),
            plain,
        )
    )


def form(text: str) -> str:
    """Return the common form of two ways to write the same words: their tokens without gaps."""
    return re.sub(r"(?<!\d)\0|\0(?!\d)", "", "\0".join(tokens(text)))


_CUT = re.compile(
    r"(?<=\d)[.,:/'-]?\d|(?<=\d)(?<!\d{4})[ \u00a0\u2009\u202f]\d{3}(?!\d)"
    r"|(?<=[^\W\d_])(?:\+\+?|#)"
)


def places_of(
    words: str, text: str, start: int = 0, end: int | None = None, *, whole: bool = False
) -> Iterator[int]:
    """Yield where words stand in a text, not where they cut a number or a name such as `C#`.

    Where they shall be `whole`, they do not begin within a word either.
    """
    last = len(text) if end is None else end
    at = text.find(words, start, last) if words else -1
    while at >= 0:
        behind = at + len(words)
        before = text[max(start, at - 5) : at]
        cuts = behind < last and _CUT.match(text, behind)
        if words[0].isdigit():
            cuts = cuts or re.search(
                r"(?:\d[.,:/'\u2019\u2010-\u2014-]?|(?<![^\W_])[-\u2010-\u2014\u2212])$", before
            )
            thousands = re.search(r"(?:^|\D)\d{1,3}[ \u00a0\u2009\u202f]$", before)
            cuts = cuts or (thousands and re.match(r"\d{3}(?!\d)", words))
        elif whole and at:
            cuts = cuts or re.match(rf"{_LETTERS}{{2}}", text[at - 1 : at + 1])
        if not cuts:
            yield at
        at = text.find(words, at + 1, last)


def is_measure(token: str) -> bool:
    """Tell whether a token is a number, in digits or words, a unit or a month."""
    return token[-1].isdigit() or token in _MEASURES


def says_otherwise(words: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether tokens hold a number or measure that others lack, or another exact word.

    Exact are negations, bounds such as `under`, `since` and `only`, and signs.
    """
    measured, exact = (
        [Counter(filter(kind, side)) for side in (words, others)]
        for kind in (is_measure, _is_exact)
    )
    if not measured[0] <= measured[1] or exact[0] != exact[1]:
        return True
    both = (set(words) - set(others), set(others) - set(words))
    return any(
        word[denied.end() :] in there
        for here, there in (both, both[::-1])
        for word in here
        if (denied := re.match(r"(?:des|dis|il|im|in|ir|non|un)(?=\w{3})", word))
    )


def _is_exact(token: str) -> bool:
    return token in _EXACT or token[-1] in f"+#{_UNIT_SIGNS}{_RELATIONS}"


class KnownWords:
    """Folded words, in which others are looked up as they are and with another ending."""

    def __init__(self, words: Iterable[str]) -> None:
        """Take the words."""
        self.words = frozenset(words)
        self._by_beginning: defaultdict[str, list[str]] = defaultdict(list)
        for word in self.words:
            self._by_beginning[word[:STEM_LETTERS]].append(word)

    def has(self, word: str) -> bool:
        """Whether a word is known, or one that begins alike up to endings of three letters."""
        if word in self.words:
            return True
        if len(word) < STEM_LETTERS or not word.isalpha():
            return False
        for other in self._by_beginning.get(word[:STEM_LETTERS], ()):
            shared = max(STEM_LETTERS, len(word) - _ENDING_LETTERS, len(other) - _ENDING_LETTERS)
            if len(other) >= shared and word.startswith(other[:shared]):
                return True
        return False


def pairs(text: str) -> Counter[tuple[str, str]]:
    """Count the pairs of characters that stand beside each other, white space and case apart."""
    plain = f" {' '.join(text.casefold().split())} "
    return Counter(pairwise(plain))


def similarity(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> float:
    """Return the Sørensen-Dice coefficient (Dice 1945) of character pairs, 0 to 1."""
    return 2 * (one & other).total() / (one.total() + other.total())


# -------------------------------------------------------------------------------------- questions


def is_repeated(one: Question, other: Question) -> bool:
    """Tell whether two questions ask for the same.

    One that is searched with a hint asks the same as one that has the hint's words of its own. Two
    of these are told apart by their own words alone, because they may share a long hint. One that
    leads to chunks of its own is no repetition.
    """
    if one.beside != other.beside or not set(one.leads) <= set(other.leads):
        return False
    if bool(one.hint) != bool(other.hint) and is_same_question(searched(one), searched(other)):
        return True
    return is_same_question(one.text, other.text)


def is_asked_again(question: Question, parent: Question | None) -> bool:
    """Tell whether a question is its parent's, asked another way."""
    return parent is not None and (question.text, question.beside) == (parent.text, parent.beside)


def searched(question: Question) -> str:
    """Return the words that a question is searched with."""
    return f"{question.text} {question.hint}".strip()


def is_same_question(one: str, other: str) -> bool:
    """Tell whether two questions are near-duplicates by their content words.

    They are none when each has a name or a number that the other lacks, or when one asks where and
    the other when.
    """
    a, b = content_words(one), content_words(other)
    if not a or not b:
        return one.casefold().strip() == other.casefold().strip()

    names, others = _names(one) & a, _names(other) & b
    # `what` and `which` go with any of these.
    asking = {"how", "when", "where", "who", "why"}
    asks, asks_too = (asking.intersection(_WORD.findall(text.casefold())) for text in (one, other))
    if (names - b and others - a) or (asks and asks_too and not asks & asks_too):
        return False

    named = names | others
    # A long name must not hide that one asks for a mother, one for a father, or that one goes a
    # step further than the other.
    same_words, same_topic = 0.75, 0.7
    return _overlap(a, b) >= same_words and _overlap(a - named, b - named) >= same_topic


def content_words(text: str) -> frozenset[str]:
    """Return a text's words without fillers, case, punctuation, possessives and the plural's s."""
    words = _WORD.findall(re.sub(r"['’]s\b", "", text.casefold()))
    return frozenset([_singular(word) for word in words if word not in FILLERS])


def _singular(word: str) -> str:
    is_plural = word[-1] == "s" and word[-2:] != "ss" and word[3:]
    return word[:-1] if is_plural else word


def _names(text: str) -> frozenset[str]:
    return content_words(" ".join([*proper_names(text), *re.findall(r"\b\d+\b", text)]))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0
