"""Pure: the cost of a request's models by a table of prices, where all of it is known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, ValidationError, field_validator

from drift.contracts.answer import CostOut, UsageOut
from drift.model.calls import ModelName, ModelUse, Spending
from drift.telemetry.parts import Part

MOST_CHARACTERS = 100_000
Amount = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Price(BaseModel, extra="forbid", frozen=True, strict=True):
    """The price of a million tokens of a model, by kind; `prompt` tokens are those of no cache.

    None holds for a request with a longer prompt than `longest_prompt`.
    """

    prompt: Amount
    cached: Amount | None = None
    cache_write: Amount | None = None
    completion: Amount | None = None
    longest_prompt: Annotated[int, Field(ge=1)] | None = None

    def cost(self, use: ModelUse) -> float | None:
        """Return the cost of the tokens; None when one of them has no price."""
        plain = use.prompt - use.cached - use.cache_write
        is_too_long = self.longest_prompt is not None and use.longest_prompt > self.longest_prompt
        if plain < 0 or is_too_long:
            return None

        tokens = (plain, use.cached, use.cache_write, use.completion)
        prices = (self.prompt, self.cached, self.cache_write, self.completion)
        total = 0.0
        for count, price in zip(tokens, prices, strict=True):
            if count and price is None:
                return None
            total += count * (price or 0.0)

        return total / 1_000_000


class Prices(BaseModel, extra="forbid", frozen=True, strict=True):
    """Prices in one currency as they were on one day, by the names of models or deployments."""

    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    date: str
    models: dict[Annotated[str, StringConstraints(min_length=1, max_length=200)], Price]

    @field_validator("date")
    @classmethod
    def _is_day(cls, text: str) -> str:
        if not re.fullmatch(r"20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])", text, re.ASCII):
            raise ValueError("must be a date such as 2026-08-21")
        return text


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The prices that hold for a service.

    `model_names` gives the name of a deployment's model in the settings. In a list of somebody
    else's the name that requests have counts only where the provider reports no other model.
    """

    prices: Prices
    model_names: Mapping[str, str]
    is_own: bool = True

    def cost(self, spending: Spending) -> CostOut | None:
        """Return the cost of the models; None when a part of it is not known."""
        if spending.uncounted or not spending.models:
            return None

        total = 0.0
        for name, use in spending.models.items():
            price = next(filter(None, map(self.prices.models.get, self._names(name))), None)
            amount = price.cost(use) if price else None
            if amount is None:
                return None
            total += amount

        return CostOut(
            amount=round(total, 8), currency=self.prices.currency, prices=self.prices.date
        )

    def _names(self, name: ModelName) -> list[str]:
        """Return the names that a price may stand under, the surest first."""
        asked = [name.asked, self.model_names.get(name.asked, name.asked)]
        if name.reported and not self.is_own:
            asked = [one for one in asked if name.reported.startswith(f"{one}-")]
        return [name.reported, *asked]


def usage_of(part: Part, prices: PriceTable | None) -> UsageOut:
    """Return what an ended retrieval used, with its cost where there are prices."""
    used = part.usage()
    used.cost = prices.cost(part.spending) if prices else None
    return used


def read(text: str) -> Prices:
    """Return the prices of a JSON text.

    Raises:
        ValueError: with the wrong place and the expected form, without a value of the text.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"must have at most {MOST_CHARACTERS:,} characters")

    try:
        return Prices.model_validate(json.loads(text, object_pairs_hook=_object))
    except ValidationError as error:
        first, *_ = error.errors(include_url=False, include_input=False, include_context=False)
        names = [
            name if re.fullmatch(r"[\w.:/@-]{1,80}", name, re.ASCII) else "…"
            for name in map(str, first["loc"])
        ]
        place = ".".join(names) or "the whole"
        problem = f"; {place}: {str(first['msg']).removeprefix('Value error, ')}"
    except json.JSONDecodeError as error:
        problem = f"; it is no JSON at line {error.lineno}, column {error.colno}"
    except LookupError:
        problem = "; it names something twice in one object"
    except (ValueError, RecursionError):  # numbers and lists of any length
        problem = ""

    raise ValueError(
        'must be JSON such as {"currency": "USD", "date": "2026-08-21", "models": {"NAME": '
        f'{{"prompt": 2.5, "cached": 0.25, "cache_write": 2.5, "completion": 15}}}}}}{problem}'
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object that names nothing twice."""
    document = dict(pairs)
    if len(document) < len(pairs):
        raise LookupError
    return document
