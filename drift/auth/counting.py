"""What is counted of a caller, and the port through which it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from drift.auth.caller import Quota

Limit = Literal["requests_per_minute", "tokens_per_day"]
WINDOW_S = 60.0
"""The minute of `requests_per_minute` is the one that ends now."""
DAY_S = 86_400
"""The day of `tokens_per_day` is that of UTC."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The limit that a caller has reached, and the seconds until there is room again."""

    limit: Limit
    most: int
    retry_after_s: float


@dataclass(frozen=True, slots=True)
class Used:
    """Requests of the last minute and tokens of today."""

    requests: int = 0
    tokens: int = 0


class CountingError(Exception):
    """Nothing can be counted now; the message says why, for people, and holds no address."""


class QuotaCounter(Protocol):
    """Counts callers by their names; each method is one step that nobody else comes between.

    Every method raises CountingError.
    """

    async def admit(self, name: str, quota: Quota) -> Refusal | None:
        """Count a request, unless the caller has reached a limit; one that is refused counts not.

        What has no limit is not counted.
        """
        ...

    async def spend(self, name: str, tokens: int) -> None:
        """Add tokens to those of today."""
        ...

    async def used(self, name: str) -> Used:
        """Return what is counted of the caller."""
        ...
