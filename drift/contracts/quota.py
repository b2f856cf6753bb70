"""What a caller is told of its own quota."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

Count = Annotated[int, Field(ge=0)]


class LimitRead(BaseModel):
    """A limit: how much of it is used and left, and when all of it is free again at the latest."""

    limit: Count
    used: Count
    left: Count
    free_at: datetime


class QuotaRead(BaseModel):
    """What a caller may use and has used; null where it has no limit.

    `counted` is `together` when all processes count as one, and `alone` when this one tells only
    what it has counted itself.
    """

    caller: str
    counted: Literal["together", "alone"]
    requests_per_minute: LimitRead | None = None
    tokens_per_day: LimitRead | None = None
