"""Faults of the embeddings."""

from __future__ import annotations

from typing import Any

from tests.function.faults.of_model import LOST, reply
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
    ),
}
"""A rule by which one follow-up proposes another."""

ROWS = (
    embedding(
        QUESTION, "HTTP 401", "status", rule={"status": 401}, sent=1, cause="401",
        **fails(MODEL_WRONG),
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
        QUESTION, "text filtered (400 content_filter)", "content_filter", sent=1,
        **fails(MODEL_DOWN),
    ),
    embedding(
        QUESTION, "vectors of another length", "wrong_dimensions", sent=2, **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "a vector of zeros", "all_zero", sent=1,
        detail="The embedding model gave a question a vector that is zero", **fails(MODEL_WRONG),
    ),
    embedding(
        QUESTION, "an answer without an end", "endless", sent=1,
        detail="The embedding model's answer is longer than the vectors asked for can be",
        **fails(MODEL_WRONG),
    ),
    embedding(WAVE, "vectors in another order, numbered", "shuffled", sent=2),
    embedding(
        WAVE, "HTTP 429 for ever", "status", rule={"status": 429}, sent=1 + ATTEMPTS, cause="429",
        **every_vector_lost(MODEL_DOWN, retrying=2),
    ),
    embedding(WAVE, "NaN in the vectors", "not_finite", sent=2, **every_vector_lost(MODEL_WRONG)),
    Row(
        "embeddings", "follow-ups of the second pass", "HTTP 503 for ever",
        (
            ONE_MORE,
            {"fault": "status", "status": 503, "kind": "embedding", "times": None, "skip": 2},
        ),
        settings={"MAX_PASSES": "2", "MAX_FOLLOWUPS": "3"}, says=LOST_ONE,
        warns=retried(followup_failed=1), sent=2 + ATTEMPTS,
    ),
)  # fmt: skip
