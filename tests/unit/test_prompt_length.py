"""A server that reads less of a prompt than was sent is noticed, and one that reads all is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drift.llm.prompt_length import PromptLength
from drift.model.calls import Prompt
from drift.prompting.tokens import cut_to, most_tokens

STORIES = Path(__file__).parents[1] / "tokenizer" / "passages.json"
PASSAGES = json.loads(STORIES.read_text("utf-8"))
PROSE = next(iter(PASSAGES.values()))


def prompt(text: str) -> Prompt:
    return Prompt("p", "You answer.", text)


@pytest.mark.parametrize("language", PASSAGES)
@pytest.mark.parametrize("bound_over_tokens", [1.0, 1.3])
def test_a_prompt_that_is_read_whole_is_not_taken_for_cut(
    language: str, bound_over_tokens: float
) -> None:
    text = PASSAGES[language] * 30
    read = PromptLength()
    assert not read.counted(prompt(text), int(most_tokens(text) / bound_over_tokens))
    assert (read.bound, read.problem) == (None, "")


def test_rules_of_tables_are_no_words() -> None:
    text = (PROSE + "\n" + "=" * 79 + "\n" + "-" * 300) * 20
    assert not PromptLength().counted(prompt(text), int(most_tokens(PROSE * 20) / 1.3))


@pytest.mark.parametrize("language", PASSAGES)
def test_half_of_a_prompt_is_noticed_and_the_next_is_bounded_by_what_was_read(
    language: str,
) -> None:
    text = PASSAGES[language] * 60
    read = PromptLength()
    half = most_tokens(text) // 3
    assert read.counted(prompt(text), half)
    assert f"{half:,} tokens" in read.problem
    assert read.bound is not None
    assert half * 0.8 < read.bound < half

    assert not read.counted(prompt("Who?"), 20)
    assert read.bound is not None


def test_a_longer_prompt_that_is_read_whole_takes_it_back() -> None:
    read, text = PromptLength(), PROSE * 60
    assert read.counted(prompt(text), 1_000)
    assert not read.counted(prompt(text), most_tokens(text))
    assert read.bound is None


def test_one_odd_count_does_not_bound_all_prompts_for_good() -> None:
    read, whole = PromptLength(), most_tokens(PROSE * 60)
    assert read.counted(prompt(PROSE * 60), whole // 3)
    sent = 0
    while (bound := read.bound) is not None:
        assert (sent := sent + 1) <= 50
        text = cut_to(PROSE * 60, bound)
        assert not read.counted(prompt(text), most_tokens(text))
    assert sent > 5, "a server that does cut meets a longer prompt seldom"
    assert read.problem == ""

    assert read.counted(prompt(PROSE * 60), whole // 3), "what does cut is noticed again"
    assert read.bound is not None


@pytest.mark.parametrize("tokens", [0, -5])
def test_a_count_that_is_none_says_nothing(tokens: int) -> None:
    assert not PromptLength().counted(prompt(PROSE * 60), tokens)


def test_a_short_prompt_says_nothing() -> None:
    assert not PromptLength().counted(prompt("Who made it? " * 20), 1)
