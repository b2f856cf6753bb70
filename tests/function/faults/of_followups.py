"""Faults of the model server that strike one follow-up, or all of them."""

from __future__ import annotations

from typing import Any

from tests.function.faults.of_model import (
    IMPATIENT,
    LOST,
    NOT_JSON,
    NOT_REPEATED,
    ODD_TYPES,
    OTHER_API,
    PAGE,
    UNCLEAR,
    reply,
    row,
    status,
)
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
    *(
        status("one follow-up", number, sent=4 if number == UNCLEAR else 1, **ONE_LOST)
        for number in NOT_REPEATED
    ),
    *(
        status(
            "one follow-up", number, sent=ATTEMPTS, says=LOST_ONE, warns=retried(followup_failed=1),
        )
        for number in (408, 500, 502, 503, 504)
    ),
    status(
        "one follow-up", 429, sent=ATTEMPTS, says=LOST_ONE, warns=retried(followup_failed=1),
        reference="24 HTTP calls, answered from the primer alone, nothing said",
    ),
    status(
        "one follow-up", 429, 2, sent=3, warns=retried(2),
        reference="recovers when retries are configured: 12 times, +4 s",
    ),
    row(
        "one follow-up", "never answers", "hang", sent=2, says=LOST_ONE,
        warns=retried(1, followup_failed=1), cause="TimeoutError", settings=IMPATIENT,
    ),
    row(
        "one follow-up", "one byte every 0.5 s", "trickle", rule={"seconds": 0.5}, sent=2,
        says=LOST_ONE, warns=retried(1, followup_failed=1), cause="TimeoutError",
        settings=IMPATIENT,
    ),
    row(
        "one follow-up", "body cut in the middle", "drop", sent=ATTEMPTS, says=LOST_ONE,
        warns=retried(followup_failed=1), cause="APIConnectionError",
    ),
    row(
        "one follow-up", "body is not JSON", "body", rule=NOT_JSON, sent=ATTEMPTS, says=LOST_ONE,
        warns=retried(followup_failed=1),
    ),
    row("one follow-up", "an HTML page with status 200", "body", rule=PAGE, sent=1, **ONE_LOST),
    row("one follow-up", "JSON of another API", "body", rule=OTHER_API, sent=1, **ONE_LOST),
    row("one follow-up", "`choices` is a number", "body", rule=ODD_TYPES, sent=1, **ONE_LOST),
    row("one follow-up", "a reply without an end", "endless", sent=1, **ONE_LOST),
    row(
        "one follow-up", "1 MB as its answer, and as a follow-up", "says",
        rule=reply(answer="A" * 10**6, new_followups=["Why " * 250_000]), sent=1,
    ),
    row(
        "one follow-up", "a thousand citations", "says",
        rule=reply(citations=[{"chunk_id": "K1", "span": "x"}] * 1000), sent=1,
    ),
    row("one follow-up", "refused by the model", "refusal", sent=1, **ONE_LOST),
    row(
        "one follow-up", "prompt filtered (400 content_filter)", "content_filter", sent=1,
        **ONE_LOST, reference="answered, nothing said",
    ),
    row("one follow-up", "reply filtered", "filtered", sent=1, **ONE_LOST),
    row("one follow-up", "no choices", "empty_choices", sent=2, **ONE_LOST),
    row("one follow-up", "`content` is null", "null_content", sent=2, **ONE_LOST),
    row("one follow-up", "cut at the token limit", "length", sent=2, **ONE_LOST),
    row("one follow-up", "cut at the token limit, once", "length", 1, sent=2),
    row(
        "one follow-up", "prose instead of JSON, once", "prose", 1, sent=2,
        reference="answered, nothing said",
    ),
    row("one follow-up", "prose instead of JSON", "prose", sent=2, **ONE_LOST),
    row(
        "one follow-up", "a JSON list", "says", rule={"text": "[1, 2]"}, sent=2, **ONE_LOST,
        reference=f"{LOST} (TypeError)",
    ),
    row(
        "one follow-up", "confidence null", "says", rule=reply(confidence=None), sent=1,
        reference=f'{LOST} (score null or "high")',
    ),
    row("one follow-up", 'confidence "high"', "says", rule=reply(confidence="high"), sent=1),
    row(
        "one follow-up", "no follow-ups of its own", "says", rule=reply(), sent=1,
        reference="goes on",
    ),
    row("one follow-up", "JSON in a fence", "fenced", sent=1),
    row("one follow-up", "no answer and no citations, once", "missing_fields", 1, sent=2),
    row("one follow-up", "no answer and no citations", "missing_fields", sent=2, **ONE_LOST),
    row("one follow-up", "4 MB of blanks after the reply", "padded", sent=1),
)  # fmt: skip

ALL_FOLLOWUPS = (
    status(
        "all follow-ups", 401, sent=FOLLOWUPS,
        **fails(MODEL_WRONG, warns={"followup_failed": FOLLOWUPS}),
    ),
    status(
        "all follow-ups", 429, sent=FOLLOWUPS * ATTEMPTS,
        **fails(MODEL_DOWN, warns=retried(FOLLOWUPS * 2, followup_failed=FOLLOWUPS)),
    ),
    row("all follow-ups", "refused by the model", "refusal", sent=FOLLOWUPS, **ALL_LOST),
    row("all follow-ups", "reply filtered", "filtered", sent=FOLLOWUPS, **ALL_LOST),
    row(
        "all follow-ups", "prose instead of JSON", "prose", sent=2 * FOLLOWUPS, **ALL_LOST,
        reference="answered from the primer alone, nothing said",
    ),
    row("all follow-ups", "JSON in a fence", "fenced", sent=FOLLOWUPS),
    row(
        "all follow-ups", "invented chunk ids", "invented_ids", sent=FOLLOWUPS, says=UNCITED,
        cited=False,
    ),
    row(
        "all follow-ups", "invented spans", "invented_spans", sent=FOLLOWUPS, says=UNCITED,
        cited=False,
    ),
)  # fmt: skip

ROWS = (*ONE_FOLLOWUP, *ALL_FOLLOWUPS)
