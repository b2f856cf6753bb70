"""Faults of the model server that strike one follow-up, or all of them."""

from __future__ import annotations

from typing import Any

from tests.function.faults.of_model import IMPATIENT, LOST, PAGE, reply, row, status
from tests.function.faults.row import (
    ATTEMPTS,
    FOLLOWUPS,
    LOST_ONE,
    MODEL_DOWN,
    MODEL_WRONG,
    UNCITED,
    fails,
    retried,
)

ONE_LOST: dict[str, Any] = {"says": LOST_ONE, "warns": {"followup_failed": 1}}
ALL_LOST: dict[str, Any] = fails(MODEL_DOWN, warns={"followup_failed": FOLLOWUPS})

ONE_FOLLOWUP = (
    status("one follow-up", 401, sent=1, **ONE_LOST),
    status(
        "one follow-up", 429, sent=ATTEMPTS, says=LOST_ONE, warns=retried(followup_failed=1),
        reference="24 HTTP calls, answered from the primer alone, nothing said",
    ),
    status(
        "one follow-up", 429, 2, sent=3, warns=retried(2),
        reference="recovers when retries are configured: 12 times, +4 s",
    ),
    row(
        "one follow-up", "one byte every 0.5 s", "trickle", rule={"seconds": 0.5}, sent=2,
        says=LOST_ONE, warns=retried(1, followup_failed=1), cause="TimeoutError",
        settings=IMPATIENT,
    ),
    row("one follow-up", "an HTML page with status 200", "body", rule=PAGE, sent=1, **ONE_LOST),
    row("one follow-up", "a reply without an end", "endless", sent=1, **ONE_LOST),
    row(
        "one follow-up", "1 MB as its answer, and as a follow-up", "says",
        rule=reply(answer="A" * 10**6, new_followups=["Why " * 250_000]), sent=1,
    ),
    row(
        "one follow-up", "prompt filtered (400 content_filter)", "content_filter", sent=1,
        **ONE_LOST, reference="answered, nothing said",
    ),
    row(
        "one follow-up", "prose instead of JSON, once", "prose", 1, sent=2,
        reference="answered, nothing said",
    ),
    row(
        "one follow-up", "a JSON list", "says", rule={"text": "[1, 2]"}, sent=2, **ONE_LOST,
        reference=f"{LOST} (TypeError)",
    ),
    row(
        "one follow-up", "confidence null", "says", rule=reply(confidence=None), sent=1,
        reference=f'{LOST} (score null or "high")',
    ),
)  # fmt: skip

ALL_FOLLOWUPS = (
    status(
        "all follow-ups", 401, sent=FOLLOWUPS,
        **fails(MODEL_WRONG, warns={"followup_failed": FOLLOWUPS}),
    ),
    row(
        "all follow-ups", "prose instead of JSON", "prose", sent=2 * FOLLOWUPS, **ALL_LOST,
        reference="answered from the primer alone, nothing said",
    ),
    row(
        "all follow-ups", "invented chunk ids", "invented_ids", sent=FOLLOWUPS, says=UNCITED,
        cited=False,
    ),
    row(
        "all follow-ups", "invented sentences", "invented_spans", sent=FOLLOWUPS, says=UNCITED,
        cited=False,
    ),
)  # fmt: skip

ROWS = (*ONE_FOLLOWUP, *ALL_FOLLOWUPS)
