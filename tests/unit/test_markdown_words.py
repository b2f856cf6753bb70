"""An answer's Markdown for other programs: no markup, picture or link in it but the text's form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from drift.integrations.markdown_words import MarkdownWords, as_words
from tests.page.hostile_texts import HOSTILE

READERS = (
    MarkdownIt("commonmark", {"html": True}),
    MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]),
)
MORE_THAN_WORDS = {"image", "html_block", "html_inline", "link_open"}
KEPT = {
    "code": "Take `<img src=x>` and ``a ` <b>`` as it is: `![x](y)`.",
    "a fence": "So:\n\n```html\n<img src=x>\n[a](b) &lt;\n```\n\nDone.",
    "a fence of tildes": "~~~\n<b>\n~~~",
    "a fence in a list": "1. So:\n   ```html\n   <b>\n\n   ![x](y)\n   ```\n2. Done.",
    "a fence behind a mark": "- ```py\n  a < b\n  <c>\n  ```\n- Done.",
    "form": "# A\n\n- *b* and **c** [1,2]\n- [ ] d\n\n| e | f |\n|---|---|\n| 1 | `g` |\n\n> h",
    "signs": "a < b, c & d, e! [1] (f), x <- y, R&D, \\* and \\\\",
}  # fmt: skip
CHANGED = {
    "<img src=x onerror=a> <!-- b --> </a> <?c?>": "&lt;img",
    "See <https://evil.example/x>.": "&lt;https",
    "![x](https://evil.example/p.png)": "!\\[x]\\(https",
    "[click](javascript:alert(1))": "[click]\\(javascript",
    "[a][x]\n\n[x]: https://evil.example": "\\[a][x]\n\n\\[x]: https",
    "- > [x]: https://evil.example": "- > \\[x]:",
    "&lt;img&gt; &#60;b&#62;": "&amp;lt;img&amp;gt; &amp;#60;b&amp;#62;",
    "\\<b> \\\\<b>": "&lt;b> \\\\&lt;b>",
    "`open <b>\nend` <i>": "\\`open &lt;b>\nend\\` &lt;i>",
    "www.evil.example\\<img src=x>": "www.evil.example&lt;img",
    "http://a.example/`<b>`": "\\`&lt;b>\\`",
    "  ```\n  x\n<b>\n  ```\n<i>": "  ```\n  x\n  ```\n&lt;b>\n  ```\n  ```\n&lt;i>",
    "    ```\n<b>": "    \\`\\`\\`\n&lt;b>",
    "> ~~~\n<b>": "> \\~\\~\\~\n&lt;b>",
    "| a `b | <i> c` |": "`b | &lt;i> c`",
    "```\nopen": "```\nopen\n```",
}


def in_pieces(text: str, sizes: list[int]) -> str:
    words, told = MarkdownWords(), ""
    for size in sizes:
        told += words.take(text[:size])
        text = text[size:]
    return told + words.take(text) + words.end()


def kinds(text: str) -> set[str]:
    """Return what readers of Markdown see in a text."""
    found, waiting = set(), [token for reader in READERS for token in reader.parse(text)]
    while waiting:
        one = waiting.pop()
        found.add(one.type)
        waiting += one.children or []
    return found


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_form_and_code_stay_as_they_are(text: str) -> None:
    assert as_words(text) == text
    assert in_pieces(text, [1] * len(text)) == text


@pytest.mark.parametrize(("text", "told"), CHANGED.items())
def test_what_would_load_or_lead_elsewhere_stays_words(text: str, told: str) -> None:
    assert told in as_words(text)
    assert not kinds(as_words(text)) & MORE_THAN_WORDS
    assert in_pieces(text, [1] * len(text)) == as_words(text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_words(text: str) -> None:
    assert not kinds(as_words(text)) & MORE_THAN_WORDS


MARKS = (
    "` `` ``` ~~~ - 1. > </a> <http://e.x> [x] ![x](y) ]( [ ! \\ &lt; | < & ( www.e.x http://e.x/ ="
)
OTHERS = (
    "\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    "\r\n",
    "- ",
    "<img src=x>",
    "[x]: y",
    "| a |\n|---|",
    "a",
)
TEXTS = st.lists(st.sampled_from((*MARKS.split(), *OTHERS)), max_size=16).map("".join)


@given(TEXTS, st.lists(st.integers(1, 5), max_size=60))
def test_any_text_in_any_pieces_is_the_same_words(text: str, sizes: list[int]) -> None:
    whole = as_words(text)
    assert in_pieces(text, sizes) == whole
    assert not kinds(whole) & MORE_THAN_WORDS


def test_a_sentence_does_not_wait_for_the_end_of_its_line() -> None:
    words = MarkdownWords()
    assert words.take("It is so. And `a` is") == "It is so. And `a` is"
    assert words.take(" `b") == " "
    assert words.take("` too.") == "`b` too."
