"""Faults of the embeddings."""

from __future__ import annotations

from typing import Any

from tests.function.faults.of_model import (
    IMPATIENT,
    LOST,
    NOT_JSON,
    NOT_REPEATED,
    OTHER_API,
    PAGE,
    reply,
)
from tests.function.faults.row import (
    ATTEMPTS,
    FOLLOWUPS,
    LOST_ONE,
    MODEL_DOWN,
    MODEL_WRONG,
    Call,
    Row,
    fails,
    retried,
)

QUESTION: Call = "question's embedding"
WAVE: Call = "follow-ups' embeddings"


def embedding(
    call: Call, said: str, fault: str, times: int | None = None, rule: Any = (), **fields: Any
) -> Row:
    """Return a row of one rule; the question is embedded first, what comes later are follow-ups."""
    made = {
        "fault": fault,
        "kind": "embedding",
        "times": times,
        "skip": 0 if call == QUESTION else 1,
        **dict(rule),
    }
    return Row("embeddings", call, said, (made,), **fields)


def every_vector_lost(code: str, **more: int) -> dict[str, Any]:
    return fails(code, warns={"followup_failed": FOLLOWUPS, **more})


CRANE = {"question": "Who mends the crane?", "target_communities": []}
ONE_MORE: dict[str, Any] = {
    "fault": "says",
    "kind": "local_reply",
    **reply(
        citations=[{"chunk_id": "K1", "sentences": "1", "words": ""}],
        new_followups=[CRANE],
        should_continue=True,
    ),
}
"""A rule by which one follow-up proposes another."""

ROWS = (
    *(
        embedding(
            QUESTION, f"HTTP {code}", "status", rule={"status": code}, sent=1, cause=f"{code}",
            **fails(MODEL_WRONG),
        )
        for code in NOT_REPEATED
    ),
    embedding(
        QUESTION, "HTTP 429 for ever", "status", rule={"status": 429}, sent=ATTEMPTS, cause="429",
        **fails(MODEL_DOWN, warns=retried()), reference=LOST,
    ),
    embedding(
        QUESTION, "HTTP 429 twice", "status", 2, {"status": 429}, sent=3 + 1, cause="429",
        warns=retried(2),
        reference="recovers when retries are configured, 4 times: nothing else runs for 4.1 s",
    ),
    embedding(
        QUESTION, "HTTP 503 for ever", "status", rule={"status": 503}, sent=ATTEMPTS, cause="503",
        **fails(MODEL_DOWN, warns=retried()),
    ),
    embedding(
        QUESTION, "never answers", "hang", sent=2, cause="TimeoutError", settings=IMPATIENT,
        **fails(MODEL_DOWN, warns=retried(1)),
    ),
    embedding(
        QUESTION, "body cut in the middle", "drop", sent=ATTEMPTS, cause="APIConnectionError",
        **fails(MODEL_DOWN, warns=retried()),
    ),
    embedding(
        QUESTION, "body is not JSON", "body", rule=NOT_JSON, sent=ATTEMPTS,
        **fails(MODEL_DOWN, warns=retried()),
    ),
    embedding(
        QUESTION, "an HTML page with status 200", "body", rule=PAGE, sent=1, **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "JSON of another API", "body", rule=OTHER_API, sent=1, **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "`data` is a number", "body", rule={"text": '{"data": 5}'}, sent=1,
        **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "text filtered (400 content_filter)", "content_filter", sent=1,
        **fails(MODEL_DOWN),
    ),
    embedding(QUESTION, "fewer vectors than asked", "wrong_count", sent=1, **fails(MODEL_WRONG)),
    embedding(
        QUESTION, "vectors of another length", "wrong_dimensions", sent=1, **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "NaN in the vector", "not_finite", sent=1,
        detail="The embedding model returned a list with NaN", **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "a vector of zeros", "all_zero", sent=1,
        detail="The embedding model gave a question a vector that is zero", **fails(MODEL_WRONG),
    ),
    *(
        embedding(
            QUESTION, said, fault, sent=1, detail=f"The embedding model returned {detail}",
            **fails(MODEL_WRONG),
        )
        for said, fault, detail in (
            ("text that is no vector", "words", "text that is not base64 of 32-bit floats"),
            (
                "base64 of a wrong length", "short_base64",
                "text that is not base64 of 32-bit floats",
            ),
            ("a number of 400 digits, as text", "digits", "a list with text in it"),
            ("a list in a list", "nested", "a list with a list in it"),
            (
                "a number beyond 32-bit floats", "beyond_32_bit",
                "a list with NaN, infinity or a number beyond 32-bit floats in it",
            ),
        )
    ),
    embedding(
        QUESTION, "an answer without an end", "endless", sent=1,
        detail="The embedding model's answer is longer than the vectors asked for can be",
        **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "400 MB packed into 400 kB", "bomb", sent=1,
        detail="The embedding model's answer is longer than the vectors asked for can be",
        **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "the account's quota is used up", "status",
        rule={"status": 429, "code": "insufficient_quota"}, sent=1, cause="429",
        detail="The model server's quota is used up", **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "no model of that name", "status",
        rule={"status": 404, "code": "model_not_found"}, sent=1, cause="404",
        detail="no model of that name (HTTP 404): check OAI_EMBED_DEPLOYMENT_NAME",
        **fails(MODEL_WRONG),
    ),
    embedding(WAVE, "vectors in another order, numbered", "shuffled", sent=2),
    embedding(WAVE, "vectors without a number", "unnumbered", sent=2),
    embedding(
        WAVE, "HTTP 429 for ever", "status", rule={"status": 429}, sent=1 + ATTEMPTS, cause="429",
        **every_vector_lost(MODEL_DOWN, retrying=2),
    ),
    embedding(
        WAVE, "HTTP 401", "status", rule={"status": 401}, sent=2, cause="401",
        **every_vector_lost(MODEL_WRONG),
    ),
    embedding(
        WAVE, "fewer vectors than asked", "wrong_count", sent=2, **every_vector_lost(MODEL_WRONG),
    ),
    embedding(WAVE, "NaN in the vectors", "not_finite", sent=2, **every_vector_lost(MODEL_WRONG)),
    *(
        Row(
            "embeddings", "follow-ups of the second pass", said,
            (ONE_MORE, {"kind": "embedding", "times": None, "skip": 2, **rule}),
            settings={"MAX_PASSES": "2", "MAX_FOLLOWUPS": "3"}, says=LOST_ONE, warns=warns,
            sent=sent,
        )
        for said, rule, warns, sent in (
            (
                "HTTP 503 for ever", {"fault": "status", "status": 503},
                retried(followup_failed=1), 2 + ATTEMPTS,
            ),
            ("HTTP 400", {"fault": "status", "status": 400}, {"followup_failed": 1}, 3),
            (
                "text filtered (400 content_filter)", {"fault": "content_filter"},
                {"followup_failed": 1}, 3,
            ),
            ("fewer vectors than asked", {"fault": "wrong_count"}, {"followup_failed": 1}, 3),
            ("vectors of another length", {"fault": "wrong_dimensions"}, {"followup_failed": 1}, 3),
            ("NaN in the vector", {"fault": "not_finite"}, {"followup_failed": 1}, 3),
            ("a vector of zeros", {"fault": "all_zero"}, {"followup_failed": 1}, 3),
        )
    ),
)  # fmt: skip
