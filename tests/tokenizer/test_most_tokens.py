"""The bound of tokens lies between what a tokenizer counts and 1.3 times that, in eight scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drift.model.graph import Chunk
from drift.prompting.elements import chunk_element
from drift.prompting.markup import element
from drift.prompting.tokens import most_tokens
from tests.lint.node_packages import installed, node

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True)]

HERE = Path(__file__).parent
PASSAGES: dict[str, str] = json.loads((HERE / "passages.json").read_text(encoding="utf-8"))
"""One story in nine languages, which the bound's figures were not made from."""


def counted(texts: list[str]) -> list[int]:
    """Return how many tokens o200k makes of each text."""
    packages = installed(HERE, "tokenizer")
    found: list[int] = json.loads(node(HERE / "count.mjs", str(packages), text=json.dumps(texts)))
    return found


def test_the_bound_of_prose_is_at_least_the_count_and_at_most_1_3_times_it() -> None:
    named = {(name, n): " ".join([text] * n) for name, text in PASSAGES.items() for n in (1, 40)}
    texts = list(named.values())
    ratios = [most_tokens(text) / count for text, count in zip(texts, counted(texts), strict=True)]
    outside = {
        name: round(ratio, 2)
        for name, ratio in zip(named, ratios, strict=True)
        if not 1 <= ratio <= 1.3
    }
    assert outside == {}


def test_the_bound_of_a_prompts_data_is_so_too() -> None:
    chunks = [
        chunk_element(Chunk(name, text, f"{name} ({n})", place=n, places=9), f"K{n}")
        for n, (name, text) in enumerate(PASSAGES.items(), start=1)
    ]
    text = element("chunks", "\n".join(chunks))
    [count] = counted([text])
    assert count <= most_tokens(text) <= 1.3 * count


NO_PROSE = [
    "https://example.org/a/b?id=0f3c9e77a1&utm_source=feed&lang=en#section-12 " * 5,
    "| 2012 | WP | MM | 09:00:00 | TS | 14.90 | 142.80 | | | 1893 | 1855 |\n" * 5,
    "for (let i = 0; i < rows.length; i++) { total += rows[i].price * 1.19; }\n" * 5,
    '```json\n{"a": [1, 2, 3], "b": null}\n```\n' * 5,
    "שומר המגדלור לא דיבר עם איש מאז שהפליגה הסירה. ผู้ดูแลประภาคารไม่ได้พูดกับใครเลย 🚢🌊",
    "የመብራት ቤቱ ጠባቂ ከማንም ጋር አልተነጋገረም።",
]
"""Of another kind or script than the figures of the bound were made from."""


def test_what_is_no_prose_or_of_another_script_stays_under_the_bound() -> None:
    counts = counted(NO_PROSE)
    over = [text for text, n in zip(NO_PROSE, counts, strict=True) if n > most_tokens(text)]
    assert over == []
