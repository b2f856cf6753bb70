"""Faults of the embeddings, the graph, Redis, the identity and the host."""

from __future__ import annotations

from typing import Any

from tests.function.faults.of_embeddings import ONE_MORE
from tests.function.faults.row import (
    CUT_SHORT,
    DEADLINE,
    FOLLOWUPS,
    GRAPH_DOWN,
    GRAPH_WRONG,
    LOST_ONE,
    MODEL_WRONG,
    Cut,
    Row,
    fails,
)

# -------------------------------------------------------------------------------------------- graph
SECOND_PASS: tuple[dict[str, Any], ...] = (
    ONE_MORE,
    {"fault": "latency", "kind": "local_reply", "seconds": 0.3, "times": None},
)  # fmt: skip
TWO_PASSES = {"MAX_PASSES": "2", "MAX_FOLLOWUPS": "3"}
SHORT = {"DEADLINE_SEC": "3"}


def slow(kind: str) -> tuple[dict[str, Any], ...]:
    """Have the network's fault come while this request is under way."""
    return ({"fault": "latency", "kind": kind, "seconds": 0.3, "times": None},)


GRAPH = (
    Row(
        "graph", "any", "connection refused", settings={"NEO4J_URI": "bolt://{closed}"},
        cause="ServiceUnavailable", **fails(GRAPH_DOWN),
    ),
    Row(
        "graph", "any", "a host without an address",
        settings={"NEO4J_URI": "bolt+s://graph.invalid"}, cause="ServiceUnavailable",
        detail="The graph database's name is not known", **fails(GRAPH_DOWN),
    ),
    Row(
        "graph", "any", "wrong password", settings={"NEO4J_PASSWORD": "canary-wrong"},
        cause="AuthError", detail="refuses the login: check NEO4J_USERNAME and NEO4J_PASSWORD",
        **fails(GRAPH_WRONG),
    ),
    Row(
        "graph", "any", "index of other dimensions",
        settings={
            "OAI_EMBED_MODEL_NAME": "text-embedding-3-small",
            "VECTOR_INDEX_DIMENSIONS": "128",
        },
        **fails(GRAPH_WRONG),
    ),
    Row(
        "graph", "any", "no index (a small project)",
        settings={
            "COMMUNITY_VECTOR_INDEX_NAME": "absent_one",
            "CHUNK_VECTOR_INDEX_NAME": "absent_two",
            "CHUNK_FULLTEXT_INDEX_NAME": "absent_three",
        },
    ),
    Row(
        "graph", "primer", "connections reset before it", slow("hypothesis"),
        cut=Cut("graph", "resets", "hypothesis"),
    ),
    Row(
        "graph", "all follow-ups", "gone", slow("primer_reply"),
        cut=Cut("graph", "is gone", "primer_reply"), cause="ServiceUnavailable",
        **fails(GRAPH_DOWN, warns={"followup_failed": FOLLOWUPS}),
    ),
    Row(
        "graph", "follow-ups of the second pass", "gone", SECOND_PASS, settings=TWO_PASSES,
        cut=Cut("graph", "is gone", "local_reply"), says=LOST_ONE, warns={"followup_failed": 1},
    ),
    Row(
        "graph", "aggregation", "gone before it", slow("aggregate_reply"),
        cut=Cut("graph", "is gone", "aggregate_reply"),
    ),
)  # fmt: skip

# -------------------------------------------------------------------------------------------- redis
UNPUBLISHED = {"progress_publish_failed": 1}

REDIS = (
    *(
        Row("redis", "any", said, settings={"REDIS_URL": url}, warns=UNPUBLISHED, cause=cause)
        for said, url, cause in (
            ("connection refused", "redis://{closed}/0", "ConnectionError"),
            ("connection taken, nothing ever said", "redis://{silent}/0", "TimeoutError"),
            ("wrong password", "redis://:canary-wrong@{redis}/0", "AuthenticationError"),
        )
    ),
    Row("redis", "any", "not configured", settings={"REDIS_URL": None}),
    Row(
        "redis", "aggregation", "gone", slow("aggregate_reply"),
        cut=Cut("redis", "is gone", "aggregate_reply"), warns=UNPUBLISHED,
    ),
)  # fmt: skip

# ----------------------------------------------------------------------------------------- identity
KEYLESS = {
    "OAI_KEY": None,
    "OAI_API_VERSION": "2024-10-21",
    "AZURE_CLIENT_ID": "11111111-2222-3333-4444-555555555555",
}
NO_TOKEN = {"entra_token_failed": 1}

IDENTITY = (
    Row("identity", "any", "a token is given", settings=KEYLESS, identity="gives", sent=1),
    Row(
        "identity", "any", "refused (403)", settings=KEYLESS, identity="403", sent=1,
        **fails(MODEL_WRONG, warns=NO_TOKEN),
    ),
    Row(
        "identity", "any", "never answers", settings=KEYLESS | SHORT, identity="hangs",
        **fails(DEADLINE),
    ),
)  # fmt: skip

# --------------------------------------------------------------------------------------------- host
HANGS = ({"fault": "hang", "kind": "hypothesis"},)


def refused(ask: str, said: str, status: int, code: str, **more: Any) -> Row:
    """Return a row of a request that is not admitted."""
    return Row("host", "any", said, ask=ask, status=status, code=code, outcome="", **more)


HOST = (
    refused("not JSON", "the body is not JSON", 400, "invalid_request"),
    refused(
        "buffered", "a setting is missing", 503, "not_configured", settings={"NEO4J_URI": None},
    ),
    refused(
        "buffered", "a secret that Key Vault did not give", 503, "not_configured",
        settings={"OAI_KEY": "@Microsoft.KeyVault(SecretUri=https://v.example/s)"},
    ),
    refused(
        "second", "MAX_INFLIGHT requests are being answered", 429, "busy",
        settings={"MAX_INFLIGHT": "1"}, rules=HANGS,
    ),
    Row(
        "host", "any", "the body ends before its declared length", ask="cut body", status=0,
        outcome="",
    ),
    Row(
        "host", "hypothesis", "the caller goes in the middle of the stream", HANGS,
        ask="leaves stream", status=0, outcome="cancelled", settings={"MAX_INFLIGHT": "1"},
    ),
    Row(
        "host", "aggregation", "the caller of a stream gets an error after its head",
        ({"fault": "status", "status": 401, "kind": "aggregate_reply", "times": None},),
        ask="streamed", **fails(MODEL_WRONG),
    ),
    *(
        Row(
            "host", call, "the deadline passes", ({"fault": "hang", "kind": kind, "times": None},),
            settings=SHORT, **fails(DEADLINE),
        )
        for call, kind in (
            ("aggregation", "aggregate_reply"),
            ("all follow-ups", "local_reply"),
        )
    ),
    Row(
        "host", "one follow-up", "three quarters of the time pass",
        ({"fault": "hang", "kind": "local_reply"},), settings=SHORT, says=CUT_SHORT,
    ),
)  # fmt: skip

ROWS = (*GRAPH, *REDIS, *IDENTITY, *HOST)
