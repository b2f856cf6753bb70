# ruff: noqa: RUF001 - letters that look like others are what is tested
"""Questions that would break, widen or redirect a full-text query.

They would do so if their text reached Lucene's parser.
"""

from __future__ import annotations

from itertools import product

SYNTAX = (
    "+", "-", "&&", "||", "!", "(", ")", "{", "}", "[", "]", "^", '"', "~", "*", "?", ":", "\\",
    "/",
    "AND", "OR", "NOT", "TO", "<", ">", "=", "'", "`", "@", "#", "$", "%", ";", ",",
)  # fmt: skip
"""Every operator of Lucene's query parser, and what other query languages use."""

SHAPES = ("{0}", "{0}alpha", "alpha{0}", "alpha {0} beta", "{0}{0}{0}", "({0}", '"alpha {0}')
"""Alone, leading, trailing, between words, repeated, and with something left open."""

BY_HAND = (
    # nothing to search for
    "", " ", "\t\r\n", "the of and", "???", "...", "-", "_", "🦉🦉", "！？。", "\u200b\u200d\ufeff",
    # unbalanced and nested
    "NOT (", "a AND (b OR", '"unclosed', 'a "b c', "((((((((((", "))))", "]]]", "{[(", '"" ""',
    "a AND AND b", "OR OR", "AND NOT",
    # ranges, regular expressions, fuzziness, boosts
    "title:[* TO *]", "[a TO", "{a TO b]", "[* TO *]", "/[a-z]{1,9999}/", "/(a+)+$/", "//",
    "/unclosed", "a~0.5 b^", "a~99999",
    "alpha^0", "alpha^-1", "alpha^1e9", "^5", "~", "a~ b~2 c~3", '"a b"~1000000',
    # wildcards in front
    "*", "*:*", "?*", "?a*", "*lpha", "a*b*c*d*e*f*g*h*", "**********",
    # fields
    "text:alpha", "text:(", "project_key:x", "project_key:*", "-project_key:x",
    "+project_key:(x OR y)", "id:k1", "_exists_:text",
    "project_id:other", "embedding:[0 TO 1]",
    # escapes and injections
    "\\", "a\\", "\\\\", "\\u0041", "\\x", "\\*", 'a\\"b', "'; DROP", "') RETURN n //",
    "$project_id", "{{project_id}}", "`", "%00",
    "${jndi:ldap://x}", "<script>", "../../etc/passwd",
    # letters and marks that are not plain
    "ß Straße", "İstanbul ı", "日本語 の 質問", "الكلمات من اليمين",
    "\u202eemos txet\u202c", "e\u0301 é",
    "ﬁ ﬀ Ⅷ", "a\u0300" * 50, "\u0301 \u0e34 \u093f" * 300, "\u0301" * 4000,
    "\U0001d4d0\U0001d4d5", "👩\u200d👩\u200d👧", "\ud83d", "alpha \udc00 beta", "\x00",
    "al\x00pha", "\x1b[31m", "\x7f\x80\x9f", "\uffff\ufffe",
    "\u2028alpha\u2029",
    # very long
    "alpha " * 2000, "(" * 5000, '"' * 4999, "x" * 40_000, "\\" * 4000,
    " ".join(f"word{i}" for i in range(2000)), "a AND " * 1500, "a1b2" * 1000,
    " ".join(f"{a}{b}" for a, b in product(map(chr, range(97, 123)), repeat=2)) * 2,
    # names with signs, quotations and title pairs, as many as a question has room for
    "a.b" * 1333, "dyn.load " * 444, "C++ " * 1000, "1,2." * 1000, '"with a" ' * 500,
    "`x y` " * 660, "with quokkas " * 300, "don't " * 666, "aA" * 2000, ".a" * 2000, '"__"', "__",
    "a@b.c-d_e " * 400, "x" * 9000 + ".y", "in __ with __",
    " ".join(f"n{i}.m{i}" for i in range(500)),
    # of characters that an analyser makes words, or pairs, of: Han, Hiragana, Katakana, Hangul,
    # Thai, Khmer, Arabic, supplementary Han, and a name that such characters follow
    *("".join(chr(first + i % size) for i in range(3990)) for first, size in (
        (0x4E00, 4000), (0x3041, 80), (0x30A1, 80), (0xAC00, 4000), (0xE01, 46), (0x1780, 50),
        (0x621, 26), (0x20000, 4000),
    )),
    "".join(map(chr, range(0x4E00, 0x4E00 + 513))),
    " ".join(chr(0x4E00 + i) + chr(0x5E00 + i) for i in range(1300)),
    "Alpha" + "".join(map(chr, range(0x4E00, 0x5D00))),
)  # fmt: skip


def hostile_questions() -> tuple[str, ...]:
    """Return at least 300 questions, each once, the same ones every time."""
    made = (shape.format(mark) for shape, mark in product(SHAPES, SYNTAX))
    return tuple(dict.fromkeys((*made, *BY_HAND)))
