"""Pure: what the models of a request cost, by a table of prices.

There is a figure only when all of it is known: never a part of the sum, and never a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from drift.contracts.answer import CostOut
from drift.model.calls import ModelName, ModelUse, Spending

MOST_CHARACTERS = 100_000
_NAME = re.compile(r"[\w.:/@-]{1,80}", re.ASCII)
_DAY = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])", re.ASCII)
_MILLION = 1_000_000
_DECIMALS = 8
_WANTED = (
    'must be JSON such as {"currency": "USD", "date": "2026-08-21", "models": {"NAME": '
    '{"prompt": 2.5, "cached": 0.25, "cache_write": 2.5, "completion": 15}}}'
)

Amount = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


def _a_day(text: str) -> str:
    if not _DAY.fullmatch(text):
        raise ValueError("must be a date such as 2026-08-21")
    return text


class _Read(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Price(_Read):
    """What a million tokens of a model cost, by their kind.

    A price for `prompt` is for those that are neither cached nor written into the cache. None holds
    for a request with a longer prompt than `longest_prompt`.
    """

    prompt: Amount
    cached: Amount | None = None
    cache_write: Amount | None = None
    completion: Amount | None = None
    longest_prompt: Annotated[int, Field(ge=1)] | None = None

    def of(self, use: ModelUse) -> float | None:
        """Return what the tokens cost; None when one of them has no price."""
        plain = use.prompt - use.cached - use.cache_write
        is_too_long = self.longest_prompt is not None and use.longest_prompt > self.longest_prompt
        if plain < 0 or is_too_long:
            return None

        priced = (
            (plain, self.prompt),
            (use.cached, self.cached),
            (use.cache_write, self.cache_write),
            (use.completion, self.completion),
        )
        if any(tokens and price is None for tokens, price in priced):
            return None
        return sum(tokens * (price or 0.0) for tokens, price in priced) / _MILLION


class Prices(_Read):
    """Prices in one currency as they were on one day, by the names of models or deployments."""

    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    date: Annotated[str, AfterValidator(_a_day)]
    models: dict[Annotated[str, StringConstraints(min_length=1, max_length=200)], Price]


class PriceTable:
    """The prices that hold for a service.

    `called` is what a deployment's model is called in the settings. In a list of somebody else's
    the name that requests have counts only where the provider reports no other model: a deployment
    may have the name of a model that it is not.
    """

    def __init__(self, prices: Prices, called: Mapping[str, str], *, is_own: bool = True) -> None:
        """Keep the prices and the names."""
        self._prices = prices
        self._called = called
        self._is_own = is_own

    def cost(self, spending: Spending) -> CostOut | None:
        """Return what the models cost; None when a part of that is not known."""
        if spending.uncounted or not spending.models:
            return None
        amounts = [self._amount(name, use) for name, use in spending.models.items()]
        known = [amount for amount in amounts if amount is not None]
        if len(known) < len(amounts):
            return None
        return CostOut(
            amount=round(sum(known), _DECIMALS),
            currency=self._prices.currency,
            prices=self._prices.date,
        )

    def _amount(self, name: ModelName, use: ModelUse) -> float | None:
        price = next(filter(None, map(self._prices.models.get, self._names(name))), None)
        return price.of(use) if price else None

    def _names(self, name: ModelName) -> tuple[str, ...]:
        """Return the names that a price may stand under, the surest first."""
        asked = (name.asked, self._called.get(name.asked, name.asked))
        if self._is_own or not name.reported:
            return (name.reported, *asked)
        return (name.reported, *(one for one in asked if name.reported.startswith(f"{one}-")))


def read(text: str) -> Prices:
    """Return the prices of a JSON text.

    Raises:
        ValueError: saying where it is wrong and what was expected, without a value of the text.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"must have at most {MOST_CHARACTERS:,} characters")
    try:
        document = json.loads(text, object_pairs_hook=_named_once)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"{_WANTED}; it is no JSON at {place}") from None
    except LookupError:
        raise ValueError(f"{_WANTED}; it names something twice in one object") from None
    except (ValueError, RecursionError):  # numbers and lists of any length
        raise ValueError(_WANTED) from None

    try:
        return Prices.model_validate(document)
    except ValidationError as error:
        first, *_ = error.errors(include_url=False, include_input=False, include_context=False)
        place = ".".join(map(_shown, first["loc"])) or "the whole"
        said = str(first["msg"]).removeprefix("Value error, ")
        raise ValueError(f"{_WANTED}; {place}: {said}") from None


def _shown(name: object) -> str:
    """Return a name of the text as a problem repeats it: no more than a model may be called."""
    return text if _NAME.fullmatch(text := str(name)) else "…"


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise LookupError
    return document
