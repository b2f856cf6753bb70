"""Faults of the model server and of what the model writes."""

from __future__ import annotations

import json
from typing import Any

from tests.function.faults.row import ATTEMPTS, MODEL_DOWN, MODEL_WRONG, Call, Row, fails, retried

KINDS: dict[Call, str] = {
    "hypothesis": "hypothesis",
    "primer": "primer_reply",
    "one follow-up": "local_reply",
    "all follow-ups": "local_reply",
    "aggregation": "aggregate_reply",
}
IMPATIENT = {"OAI_TIMEOUT_SEC": "1", "RETRY_MAX_ATTEMPTS": "2"}
LOST = "request lost"


def row(
    call: Call, said: str, fault: str, times: int | None = None, rule: Any = (), **fields: Any
) -> Row:
    """Return a row of one rule for the model server."""
    made = {"fault": fault, "kind": KINDS[call], "times": times, **dict(rule)}
    return Row("model", call, said, (made,), **fields)


def status(
    call: Call,
    number: int,
    times: int | None = None,
    /,
    *,
    said: str = "",
    rule: Any = (),
    **fields: Any,
) -> Row:
    """Return a row of an HTTP status."""
    often = "for ever" if times is None else f"{times} time{'s' * (times > 1)}"
    fields.setdefault("cause", f"{number}")
    return row(
        call,
        said or f"HTTP {number} {often}",
        "status",
        times,
        {"status": number, **dict(rule)},
        **fields,
    )


ANOTHER = {"OAI_MODEL": "another"}
"""A service that has learnt nothing yet."""
LONG = {"headers": {"retry-after": "120"}}
NO_HYPOTHESIS = {"hypothesis_unusable": 1}
NO_PRIMER = {"primer_unusable": 1}
NO_LAST_CALL: Any = {
    "warns": {"aggregation_unusable": 1},
    "says": "The final answer could not be written because of a failure",
}
PAGE = {"text": "<html>Sign in to the network</html>", "content_type": "text/html"}


def reply(**changes: Any) -> dict[str, str]:
    """Return the rule of a follow-up's reply with these fields."""
    whole = {
        "citations": [],
        "verdict": "partly",
        "answer": "A berth.",
        "confidence": 0.5,
        "new_followups": [],
    }
    return {"text": json.dumps(whole | changes)}


HYPOTHESIS = (
    status("hypothesis", 401, sent=1, **fails(MODEL_WRONG)),
    status("hypothesis", 429, sent=ATTEMPTS, warns=retried(), **fails(MODEL_DOWN)),
    status("hypothesis", 503, 2, sent=3, warns=retried(2)),
    status(
        "hypothesis", 429, said="HTTP 429, Retry-After longer than the deadline", rule=LONG,
        settings={"DEADLINE_SEC": "60"}, sent=1, **fails(MODEL_DOWN),
    ),
    row(
        "hypothesis", "never answers", "hang", sent=2, cause="TimeoutError", settings=IMPATIENT,
        **fails(MODEL_DOWN, warns=retried(1)),
    ),
    row(
        "hypothesis", "body cut in the middle", "drop", sent=ATTEMPTS, cause="APIConnectionError",
        **fails(MODEL_DOWN, warns=retried()),
    ),
    row(
        "hypothesis", "400 MB packed into 400 kB", "bomb", sent=1,
        detail="longer than MAX_REPLY_BYTES", **fails(MODEL_WRONG),
    ),
    row("hypothesis", "refused by the model", "refusal", sent=1, warns=NO_HYPOTHESIS),
)  # fmt: skip

LADDER = (
    row("hypothesis", "knows no `reasoning_effort`", "refuses_effort", sent=2, settings=ANOTHER),
    row("primer", "takes the schema and forgets it", "ignores_schema", sent=2, settings=ANOTHER),
)  # fmt: skip

SOCKET = tuple(
    Row(
        "model", "any", said, settings={"OAI_BASE_URL": where, **more}, sent=sent, cause=cause,
        **fails(MODEL_DOWN, warns=retried(again)),
    )
    for said, where, more, again, sent, cause in (
        ("connection refused", "{closed}", {}, 2, None, "APIConnectionError"),
        ("connection taken, nothing ever said", "{silent}", IMPATIENT, 1, 2, "TimeoutError"),
    )
)  # fmt: skip

PRIMER = (
    status(
        "primer", 429, 2, sent=3, warns=retried(2),
        reference="recovers when retries are configured: 8 times, +6 s",
    ),
    status("primer", 500, sent=ATTEMPTS, **fails(MODEL_DOWN, warns=retried())),
    row(
        "primer", "prompt filtered (400 content_filter)", "content_filter", sent=1, warns=NO_PRIMER,
    ),
    row("primer", "cut at the token limit, once", "length", 1, sent=2),
    row("primer", "prose instead of JSON", "prose", sent=2, warns=NO_PRIMER, reference=LOST),
)  # fmt: skip

AGGREGATION = (
    status(
        "aggregation", 500, sent=ATTEMPTS, **fails(MODEL_DOWN, warns=retried()),
        reference=f"{LOST} (3 times)",
    ),
    row("aggregation", "prose instead of JSON", "prose", sent=2, **NO_LAST_CALL),
    row("aggregation", "invented numbers of facts", "invented_ids", sent=1),
)  # fmt: skip
