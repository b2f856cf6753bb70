"""What one row of the fault table says.

Which fault, what the caller gets, what is logged, what is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

Part = Literal["model", "embeddings", "graph", "redis", "identity", "host"]
Call = Literal[
    "hypothesis",
    "question's embedding",
    "primer",
    "follow-ups' embeddings",
    "one follow-up",
    "all follow-ups",
    "follow-ups of the second pass",
    "aggregation",
    "any",
]

ATTEMPTS = 3
"""RETRY_MAX_ATTEMPTS of every row that does not set it."""

FOLLOWUPS = 2
"""How many follow-ups are asked in the first pass."""

MODEL_DOWN, MODEL_WRONG = "model_unavailable", "model_misconfigured"
GRAPH_DOWN, GRAPH_WRONG = "graph_unavailable", "graph_misconfigured"
DEADLINE = "deadline"

LOST_ONE = "could not be answered because of a failure"
UNCITED = "No statement could be backed by a citation."
CUT_SHORT = "The time limit ended the search"

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Cut:
    """What the network does to a server.

    It happens once a request of kind `during` has reached the model server; None means before.
    """

    server: Literal["graph", "redis", "model"]
    how: Literal["resets", "is gone"]
    during: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One fault, while the rest of the service works.

    A request has MAX_PASSES=1, MAX_FOLLOWUPS=2 and MAX_FOLLOWUPS_PER_PROMPT=1 unless `settings`
    say otherwise.

    `rules` are asked of the model server (`drift.local.model_server.faults.Rule`); those of "one
    follow-up" strike that one alone. A setting in braces names a server of the test, None removes
    the setting. `identity` is what the endpoint for tokens answers, `ask` how the caller asks.

    A `code` is an error's, else there is an answer: `says` stands in its `residual_uncertainty`.
    `warns` counts the log lines of warnings and errors besides `request_failed`, and `cause` stands
    in each of theirs that has a cause. `sent` is how many requests of the call arrived at the
    server (of the model, of tokens), all repetitions among them; None where it may vary.
    `reference` is what Microsoft's implementation did. `detail` stands in the error's own.
    """

    part: Part
    call: Call
    fault: str
    rules: tuple[Mapping[str, Any], ...] = ()
    settings: Mapping[str, str | None] = NOTHING
    cut: Cut | None = None
    identity: str = ""
    ask: str = "buffered"
    status: int = 200
    code: str = ""
    outcome: str = "ok"
    detail: str = ""
    says: str = ""
    cited: bool = True
    warns: Mapping[str, int] = field(default_factory=dict)
    cause: str = ""
    sent: int | None = None
    reference: str = ""

    def __str__(self) -> str:
        """Return a name for the test."""
        return f"{self.part}: {self.call}: {self.fault}"

    @property
    def logged(self) -> dict[str, int]:
        """Warnings and errors in the log by event."""
        edge = {"request_failed": 1} if self.code else {}
        return {**self.warns, **edge}


def fails(code: str, **more: Any) -> dict[str, Any]:
    """Return the fields of a row whose request fails with 500 and this code."""
    return {"status": 500, "code": code, "outcome": code, **more}


def retried(times: int = ATTEMPTS - 1, **more: int) -> dict[str, int]:
    """Return the warnings of a call that is repeated so many times."""
    return {"retrying": times, **more}
