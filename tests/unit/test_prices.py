"""What models cost: all of it or nothing, each token once, by the name that is surest."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.http.wiring import LIST_PRICES
from drift.model.calls import ModelName, ModelUse, Spending, Tokens
from drift.search.prices import MOST_CHARACTERS, Price, Prices, PriceTable, read
from tests.list_prices import models

DAY = "2026-08-21"
FULL = {"prompt": 2, "cached": 0.5, "cache_write": 2.5, "completion": 8}


def table(is_own: bool = True, called: dict[str, str] | None = None, **models: Any) -> PriceTable:
    prices = Prices.model_validate({"currency": "EUR", "date": DAY, "models": models})
    return PriceTable(prices, called or {}, is_own=is_own)


def spent(*answers: tuple[str, str, Tokens], uncounted: int = 0) -> Spending:
    spending = Spending(uncounted=uncounted)
    for reported, asked, tokens in answers:
        spending.answered(ModelName(reported, asked), tokens)
    return spending


def test_each_token_is_paid_once_by_its_kind() -> None:
    tokens = Tokens(1_000_000, 100_000, cached=400_000, cache_write=100_000, reasoning=90_000)
    cost = table(big=FULL).cost(spent(("big", "big", tokens)))
    assert cost.model_dump() == {
        "amount": 0.5 * 2 + 0.4 * 0.5 + 0.1 * 2.5 + 0.1 * 8,
        "currency": "EUR",
        "prices": DAY,
    }


COUNTS = st.integers(0, 10**6)


@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS), min_size=1, max_size=5))
def test_answers_cost_together_what_they_cost_alone(
    answers: list[tuple[int, int, int, int]],
) -> None:
    tokens = [
        Tokens(1 + plain + cached + written, completion, cached, written)
        for plain, completion, cached, written in answers
    ]
    prices = table(big=FULL, small={**FULL, "prompt": 1})
    named = [("big", "small")[place % 2] for place in range(len(tokens))]
    together = prices.cost(spent(*((n, n, t) for n, t in zip(named, tokens, strict=True))))
    alone = [prices.cost(spent((n, n, t))) for n, t in zip(named, tokens, strict=True)]
    assert together.amount == pytest.approx(sum(one.amount for one in alone if one), abs=1e-6)


@pytest.mark.parametrize(
    ("price", "tokens"),
    [
        ({"prompt": 1}, Tokens(10, 1)),
        ({"prompt": 1, "completion": 1}, Tokens(10, 1, cached=1)),
        ({"prompt": 1, "completion": 1, "cached": 1}, Tokens(10, 1, cache_write=1)),
        ({**FULL, "longest_prompt": 9}, Tokens(10, 1)),
        (FULL, Tokens(10, 1, cached=6, cache_write=5)),  # more than there are: counted elsewise
    ],
)
def test_a_token_without_a_price_leaves_no_figure(price: dict[str, float], tokens: Tokens) -> None:
    prices = table(big=price, good=FULL)
    assert prices.cost(spent(("big", "big", tokens))) is None
    assert prices.cost(spent(("big", "big", tokens), ("good", "good", Tokens(1, 1)))) is None


def test_the_longest_prompt_is_that_of_one_request_and_not_their_sum() -> None:
    prices = table(big={**FULL, "longest_prompt": 10})
    assert prices.cost(spent(*[("big", "big", Tokens(10, 1))] * 3))
    assert not prices.cost(spent(("big", "big", Tokens(1, 1)), ("big", "big", Tokens(11, 1))))


def test_without_a_call_with_an_unknown_model_or_an_uncounted_request_there_is_no_figure() -> None:
    prices = table(big=FULL)
    good = ("big", "big", Tokens(10, 1))
    assert prices.cost(spent(good))
    assert prices.cost(spent()) is None
    assert prices.cost(spent(good, ("other", "other", Tokens(1, 1)))) is None
    assert prices.cost(spent(good, uncounted=1)) is None


@pytest.mark.parametrize(
    ("reported", "asked", "is_own", "paid"),
    [
        ("gpt-9-2026-01-01", "gpt-9", True, 3),  # the very snapshot
        ("gpt-9-2026-02-02", "gpt-9", True, 2),
        ("", "gpt-9", False, 2),
        ("gpt-8", "gpt-9", False, None),  # a deployment that has the name of another model
        ("gpt-8", "gpt-9", True, 2),  # whoever prices a deployment by its name knows what it is
        ("gpt-8", "mine", True, 5),
        ("vectors-3", "my-vectors", True, 7),
        ("another", "my-vectors", False, None),
    ],
)
def test_the_reported_name_counts_before_the_one_that_requests_have(
    reported: str, asked: str, is_own: bool, paid: int | None
) -> None:
    models = {
        "gpt-9": {"prompt": 2},
        "gpt-9-2026-01-01": {"prompt": 3},
        "mine": {"prompt": 5},
        "vectors": {"prompt": 7},
    }
    prices = table(is_own, {"my-vectors": "vectors"}, **models)
    cost = prices.cost(spent((reported, asked, Tokens(1_000_000))))
    assert (cost and cost.amount) == paid


def test_a_model_used_under_two_names_is_paid_for_both() -> None:
    cost = table(big={"prompt": 1}).cost(
        spent(("big", "a", Tokens(1_000_000)), ("", "big", Tokens(1_000_000)))
    )
    assert cost.amount == 2


def test_uses_of_parts_add_up_by_model() -> None:
    one = spent(("m", "m", Tokens(10, 2, 3, 4)), uncounted=1)
    one.add(spent(("m", "m", Tokens(7, 1)), ("n", "n", Tokens(5)), uncounted=2))
    assert one == Spending(
        {
            ModelName("m", "m"): ModelUse(17, 3, 3, 4, 10),
            ModelName("n", "n"): ModelUse(5, 0, 0, 0, 5),
        },
        3,
    )


# -------------------------------------------------------------------------------------- the setting
def text(**changes: Any) -> str:
    return json.dumps({"currency": "USD", "date": DAY, "models": {"m": {"prompt": 1}}} | changes)


def test_a_table_is_read() -> None:
    assert read(text()).models == {"m": Price(prompt=1)}
    assert read(text(models={})).models == {}


@pytest.mark.parametrize(
    ("given_text", "said"),
    [
        ("", "no JSON at line 1, column 1"),
        ('{"currency": "USD",\n "date"', "no JSON at line 2, column 8"),
        ("[" * 50_000, "must be JSON such as"),
        ('{"a": ' + "1" * 5000 + "}", "must be JSON such as"),
        ('{"currency": "USD", "currency": "EUR"}', "names something twice"),
        (text(currency="dollars"), "currency: "),
        (text(date="yesterday"), "date: must be a date such as 2026-08-21"),
        (text(models={"m": 5}), "models.m: "),
        (text(models={"m": {"prompt": -1}}), "models.m.prompt: "),
        (text(models={"m": {"prompt": 1, "cached": float("nan")}}), "models.m.cached: "),
        (text(models={"m": {"prompt": 1, "input": 2}}), "models.m.input: "),
        (text(models={"m\x1b[2J \n": {"prompt": "x"}}), "models.….prompt: "),
        (" " * (MOST_CHARACTERS + 1), "at most 100,000 characters"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(given_text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"^must ") as caught:
        read(given_text)
    assert said in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 400


@given(st.text() | st.recursive(st.none() | st.text() | st.floats(), st.lists).map(json.dumps))
def test_no_text_gives_anything_but_prices_or_words(anything: str) -> None:
    with pytest.raises(ValueError, match=r"^must "):
        read(anything)


# ------------------------------------------------------------------------------------- list prices
def test_the_packaged_prices_are_those_of_genai_prices_on_their_day() -> None:
    packaged = read(LIST_PRICES.read_text("utf-8"))
    day = datetime.fromisoformat(packaged.date).replace(tzinfo=UTC)
    assert packaged.models == {n: Price.model_validate(p) for n, p in models(day).items()}
    assert packaged.models["gpt-5.4"].longest_prompt == 272_000
    assert packaged.models["text-embedding-3-small"] == Price(prompt=0.02)
