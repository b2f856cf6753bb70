"""Faults of the model server and of what the model writes."""

from __future__ import annotations

import json
from typing import Any

from tests.function.corpus import QUESTION
from tests.function.faults.row import ATTEMPTS, MODEL_DOWN, MODEL_WRONG, Call, Row, fails, retried

KINDS: dict[Call, str] = {
    "hypothesis": "hypothesis",
    "primer": "primer_reply",
    "one follow-up": "local_reply",
    "all follow-ups": "local_reply",
    "aggregation": "aggregate_reply",
}
NOT_REPEATED = (400, 401, 403, 404, 422)
UNCLEAR = 400
"""May be about any field: asked again without options, and then without a schema."""
REPEATED = (408, 409, 429, 500, 502, 503, 504)
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
AT_ONCE = {"headers": {"retry-after-ms": "1"}}
LONG = {"headers": {"retry-after": "120"}}
NO_HYPOTHESIS = {"hypothesis_unusable": 1}
NO_PRIMER = {"primer_unusable": 1}
NO_LAST_CALL: Any = {
    "warns": {"aggregation_unusable": 1},
    "says": "The final answer could not be written because of a failure",
}
PAGE = {"text": "<html>Sign in to the network</html>", "content_type": "text/html"}
NOT_JSON = {"text": '{"choices": [', "content_type": "application/json"}
OTHER_API = {"text": '{"models": []}'}
ODD_TYPES = {"text": '{"choices": 5}'}


def reply(**changes: Any) -> dict[str, str]:
    """Return the rule of a follow-up's reply with these fields."""
    whole = {
        "citations": [],
        "verdict": "partly",
        "answer": "A berth.",
        "confidence": 0.5,
        "new_followups": [],
        "should_continue": False,
    }
    return {"text": json.dumps(whole | changes)}


EXTRA_KEY = json.dumps(
    {
        "initial_answer": "A berth.",
        "followups": [
            {"question": text, "target_communities": []}
            for text in (QUESTION, "Which ships need a pilot?")
        ],
        "rationale": "",
        "score": 7,
    }
)

HYPOTHESIS = (
    *(
        status("hypothesis", number, sent=2 if number == UNCLEAR else 1, **fails(MODEL_WRONG))
        for number in NOT_REPEATED
    ),
    *(
        status("hypothesis", number, sent=ATTEMPTS, warns=retried(), **fails(MODEL_DOWN))
        for number in REPEATED
    ),
    status(
        "hypothesis", 429, 1, said="HTTP 429 once, with Retry-After", rule=AT_ONCE, sent=2,
        warns=retried(1),
    ),
    status("hypothesis", 503, 2, sent=3, warns=retried(2)),
    status(
        "hypothesis", 429, said="HTTP 429, Retry-After longer than the deadline", rule=LONG,
        settings={"DEADLINE_SEC": "60"}, sent=1, **fails(MODEL_DOWN),
    ),
    row(
        "hypothesis", "never answers, once", "hang", 1, sent=2, warns=retried(1),
        cause="TimeoutError", settings=IMPATIENT,
    ),
    row(
        "hypothesis", "never answers", "hang", sent=2, cause="TimeoutError", settings=IMPATIENT,
        **fails(MODEL_DOWN, warns=retried(1)),
    ),
    row(
        "hypothesis", "one byte every 0.5 s", "trickle", rule={"seconds": 0.5}, sent=2,
        cause="TimeoutError", settings=IMPATIENT, **fails(MODEL_DOWN, warns=retried(1)),
    ),
    row(
        "hypothesis", "body cut in the middle, twice", "drop", 2, sent=3, warns=retried(2),
        cause="APIConnectionError",
    ),
    row(
        "hypothesis", "body cut in the middle", "drop", sent=ATTEMPTS, cause="APIConnectionError",
        **fails(MODEL_DOWN, warns=retried()),
    ),
    row(
        "hypothesis", "body is not JSON", "body", rule=NOT_JSON, sent=ATTEMPTS,
        **fails(MODEL_DOWN, warns=retried()),
    ),
    row(
        "hypothesis", "an HTML page with status 200", "body", rule=PAGE, sent=1,
        **fails(MODEL_WRONG),
    ),
    row("hypothesis", "JSON of another API", "body", rule=OTHER_API, sent=1, **fails(MODEL_WRONG)),
    row(
        "hypothesis", "`choices` is a number", "body", rule=ODD_TYPES, sent=1, **fails(MODEL_WRONG),
    ),
    row(
        "hypothesis", "a reply without an end", "endless", sent=1,
        detail="longer than MAX_REPLY_BYTES", **fails(MODEL_WRONG),
    ),
    row(
        "hypothesis", "400 MB packed into 400 kB", "bomb", sent=1,
        detail="longer than MAX_REPLY_BYTES", **fails(MODEL_WRONG),
    ),
    status(
        "hypothesis", 429, said="the account's quota is used up",
        rule={"code": "insufficient_quota"}, sent=1, detail="quota is used up (HTTP 429)",
        **fails(MODEL_WRONG),
    ),
    status(
        "hypothesis", 400, said="the prompt is too long", rule={"code": "context_length_exceeded"},
        sent=1, detail="longer than the model of OAI_MODEL takes", **fails(MODEL_WRONG),
    ),
    status(
        "hypothesis", 404, said="no model of that name", rule={"code": "DeploymentNotFound"},
        sent=1, detail="no model of that name (HTTP 404): check OAI_MODEL", **fails(MODEL_WRONG),
    ),
    row("hypothesis", "refused by the model", "refusal", sent=1, warns=NO_HYPOTHESIS),
    row(
        "hypothesis", "prompt filtered (400 content_filter)", "content_filter", sent=1,
        warns=NO_HYPOTHESIS,
    ),
    row("hypothesis", "reply filtered", "filtered", sent=1, warns=NO_HYPOTHESIS),
    row("hypothesis", "cut at the token limit", "length", sent=1, warns=NO_HYPOTHESIS),
    row("hypothesis", "no choices", "empty_choices", sent=1, warns=NO_HYPOTHESIS),
    row("hypothesis", "empty text", "empty_content", sent=1, warns=NO_HYPOTHESIS),
    row("hypothesis", "`content` is null", "null_content", sent=1, warns=NO_HYPOTHESIS),
)  # fmt: skip

LADDER = (
    row("hypothesis", "knows no `reasoning_effort`", "refuses_effort", sent=2, settings=ANOTHER),
    row(
        "hypothesis", "knows no effort `none`", "refuses_effort_none", sent=2, settings=ANOTHER,
    ),
    row(
        "hypothesis", "knows no `max_completion_tokens`", "refuses_max_completion_tokens", sent=2,
        settings=ANOTHER,
    ),
    row(
        "hypothesis", "knows no `prompt_cache_options`", "refuses_cache_options", sent=2,
        settings={**ANOTHER, "OAI_PROMPT_CACHE": "explicit"},
    ),
    row(
        "hypothesis", "takes no temperature", "refuses_temperature", sent=2,
        settings={**ANOTHER, "LLM_TEMPERATURE": "0"},
    ),
    row(
        "hypothesis", "400 without a reason for any option", "refuses_options_silently", sent=2,
        settings=ANOTHER,
    ),
    row("primer", "knows only `json_object`", "refuses_json_schema", sent=2, settings=ANOTHER),
    row(
        "primer", "knows only `json_object`, and does not say so", "refuses_json_schema_silently",
        sent=3, settings=ANOTHER,
    ),
    row(
        "primer", "knows no `response_format` (422)", "refuses_response_format", sent=3,
        settings=ANOTHER,
    ),
    row(
        "primer", "knows no `response_format`, and does not say so",
        "refuses_response_format_silently", sent=4, settings=ANOTHER,
    ),
    row("primer", "takes the schema and forgets it", "ignores_schema", sent=2, settings=ANOTHER),
    row(
        "aggregation", "takes the schema and forgets it", "ignores_schema", sent=2,
        settings=ANOTHER,
    ),
)  # fmt: skip

SOCKET = tuple(
    Row(
        "model", "any", said, settings={"OAI_BASE_URL": where, **more}, sent=sent, cause=cause,
        **fails(MODEL_DOWN, warns=retried(again)),
    )
    for said, where, more, again, sent, cause in (
        ("connection refused", "{closed}", {}, 2, None, "APIConnectionError"),
        ("connection reset", "{resetting}", {}, 2, ATTEMPTS, "APIConnectionError"),
        ("connection closed without an answer", "{closing}", {}, 2, ATTEMPTS, "APIConnectionError"),
        ("connection taken, nothing ever said", "{silent}", IMPATIENT, 1, 2, "TimeoutError"),
        ("another protocol than HTTP", "{babbling}", {}, 2, ATTEMPTS, "APIConnectionError"),
    )
)  # fmt: skip

PRIMER = (
    status(
        "primer", 429, 2, sent=3, warns=retried(2),
        reference="recovers when retries are configured: 8 times, +6 s",
    ),
    status("primer", 500, sent=ATTEMPTS, **fails(MODEL_DOWN, warns=retried())),
    status("primer", 401, sent=1, **fails(MODEL_WRONG)),
    row(
        "primer", "never answers", "hang", sent=2, cause="TimeoutError", settings=IMPATIENT,
        **fails(MODEL_DOWN, warns=retried(1)),
    ),
    row("primer", "refused by the model", "refusal", sent=1, warns=NO_PRIMER),
    row(
        "primer", "prompt filtered (400 content_filter)", "content_filter", sent=1, warns=NO_PRIMER,
    ),
    row("primer", "cut at the token limit, once", "length", 1, sent=2),
    row("primer", "no choices", "empty_choices", sent=2, warns=NO_PRIMER),
    row("primer", "JSON that does not parse, once", "invalid_json", 1, sent=2),
    row("primer", "prose instead of JSON", "prose", sent=2, warns=NO_PRIMER, reference=LOST),
    row("primer", "JSON in a fence", "fenced", sent=1, reference=LOST),
    row("primer", "an extra key", "says", rule={"text": EXTRA_KEY}, sent=1, reference=LOST),
    row(
        "primer", "a field that must be text is null", "says",
        rule={"text": EXTRA_KEY.replace('"A berth."', "null")}, sent=1,
        reference=f"{LOST} (score null)",
    ),
    row(
        "primer", "no follow-ups and no answer", "missing_fields", sent=1,
        reference=f"{LOST}, in 1 of 2 folds goes on",
    ),
    row("primer", "follow-ups name unknown communities", "invented_ids", sent=1),
    row("primer", "4 MB of blanks after the reply", "padded", sent=1),
)  # fmt: skip

AGGREGATION = (
    status("aggregation", 500, 2, sent=3, warns=retried(2)),
    status(
        "aggregation", 500, sent=ATTEMPTS, **fails(MODEL_DOWN, warns=retried()),
        reference=f"{LOST} (3 times)",
    ),
    status("aggregation", 401, sent=1, **fails(MODEL_WRONG)),
    row(
        "aggregation", "never answers", "hang", sent=2, cause="TimeoutError", settings=IMPATIENT,
        **fails(MODEL_DOWN, warns=retried(1)),
    ),
    row("aggregation", "refused by the model", "refusal", sent=1, **NO_LAST_CALL),
    row(
        "aggregation", "prompt filtered (400 content_filter)", "content_filter", sent=1,
        **NO_LAST_CALL,
    ),
    row("aggregation", "cut at the token limit, once", "length", 1, sent=2),
    row("aggregation", "cut at the token limit", "length", sent=2, **NO_LAST_CALL),
    row("aggregation", "empty text", "empty_content", sent=2, **NO_LAST_CALL),
    row("aggregation", "JSON that does not parse, once", "invalid_json", 1, sent=2),
    row("aggregation", "JSON that does not parse", "invalid_json", sent=2, **NO_LAST_CALL),
    row("aggregation", "prose instead of JSON", "prose", sent=2, **NO_LAST_CALL),
    row("aggregation", "JSON in a fence", "fenced", sent=1),
    row("aggregation", "no answer in the reply, once", "missing_fields", 1, sent=2),
    row("aggregation", "no answer in the reply", "missing_fields", sent=2, **NO_LAST_CALL),
    row("aggregation", "invented numbers of facts", "invented_ids", sent=1),
    row("aggregation", "4 MB of blanks after the reply", "padded", sent=1),
)  # fmt: skip
