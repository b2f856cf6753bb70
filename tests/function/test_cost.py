"""What a request costs, over real sockets: two chat models and one of embeddings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.function.calling import Caller
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

DAY = "2026-08-21"
A_TOKEN = 1_000_000.0
"""The price of a million tokens that makes each of them cost one."""
FREE = {"prompt": 0, "cached": 0, "cache_write": 0, "completion": 0}
SMALL, BIG = "the-small-one", "the-big-one"
EMBEDDINGS = "wordllama-256"


def priced(environment: pytest.MonkeyPatch, **models: Any) -> None:
    """Set the models of a function, and the prices of those that are given."""
    environment.setenv("OAI_MODEL", BIG)
    environment.setenv("OAI_MODEL_SMALL", SMALL)
    document = {"currency": "EUR", "date": DAY, "models": models}
    environment.setenv("PRICES", json.dumps(document))


async def usage_of(function: Caller, **fields: Any) -> dict[str, Any]:
    """Return the usage of an answer."""
    usage: dict[str, Any] = (await function.answer(include=["usage"], **fields))["usage"]
    return usage


def written(usage: dict[str, Any], *phases: str) -> int:
    """Return the tokens that models wrote in these phases."""
    return sum(usage["phases"][phase]["completion_tokens"] for phase in phases)


async def test_each_model_is_paid_by_its_own_price(
    environment: pytest.MonkeyPatch, function: Caller
) -> None:
    dear = {**FREE, "completion": A_TOKEN}
    priced(environment, **{SMALL: dear, BIG: FREE, EMBEDDINGS: FREE})
    usage = await usage_of(function)
    small = written(usage, "expanding_query", "retrieving_communities")
    assert usage["cost"] == {"amount": small, "currency": "EUR", "prices": DAY}
    assert 0 < small < usage["completion_tokens"]


async def test_a_stream_has_the_same_figure_and_no_token_is_paid_twice(
    environment: pytest.MonkeyPatch, function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "bills_more", "kind": "chat", "times": None})
    each = dict.fromkeys(FREE, A_TOKEN / 4) | {"completion": A_TOKEN}
    priced(environment, **dict.fromkeys((SMALL, BIG, EMBEDDINGS), each))
    await function.answer()  # the server has the beginnings of its prompts in its cache now
    async with function.streaming(include=["usage"]) as events:
        *_, (name, document) = await events.all()
    assert name == "result"
    usage = document["usage"]
    assert usage["cached_tokens"] > 0
    assert usage["reasoning_tokens"] > 0
    assert usage["cache_write_tokens"] > 0
    paid = usage["prompt_tokens"] / 4 + usage["completion_tokens"]
    assert usage["cost"]["amount"] == paid
