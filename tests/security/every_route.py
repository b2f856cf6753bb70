"""Calling every route of the function with secrets in the headers and in the URL."""

from __future__ import annotations

import json
from urllib.parse import quote

from tests.function.corpus import PROJECT, QUESTION
from tests.security.canaries import SECRETS, Outputs
from tests.security.raw_http import JSON, STREAM, Answer, call, events

RAG = "/api/rag/query"
ROUTES = (
    ("POST", RAG),
    ("POST", "/mcp"),
    ("GET", "/.well-known/oauth-protected-resource/mcp"),
    ("POST", "/v1/chat/completions"),
    ("GET", "/v1/models"),
    ("POST", f"/v1/vector_stores/{PROJECT}/search"),
    ("POST", "/v1/embeddings"),
    ("POST", "/v1/responses"),
    ("POST", "/dify/retrieval"),
    ("GET", "/openapi-3.0.json"),
    ("POST", "/api/nodes"),
    ("PUT", "/api/nodes/nothing"),
    ("DELETE", "/api/nodes/nothing"),
    ("POST", "/documents"),
    ("PATCH", "/documents/nothing"),
    ("DELETE", "/documents/nothing"),
    ("GET", "/rag"),
    ("GET", "/rag/version/main.js"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("GET", "/health/neo4j"),
    ("GET", "/metrics"),
    ("GET", "/openapi.yaml"),
    ("POST", "/feedback"),
    ("GET", "/usage"),
    ("GET", "/projects"),
    *(
        ("GET", f"/projects/{PROJECT}{more}")
        for more in ("", "/documents", "/communities", "/feedback")
    ),
    ("GET", "/documents/nothing/content"),
    *(("GET", f"/{kind}/nothing") for kind in ("documents", "chunks", "entities")),
)
HEADERS = {
    "x-functions-key": SECRETS["function key"],
    "authorization": f"Bearer {SECRETS['Authorization header']}",
    "cookie": f"session={SECRETS['cookie']}",
}
CODE = f"?code={quote(SECRETS['function key'], safe='')}"


async def call_every_route(url: str, outputs: Outputs, retrieval_id: str | None = None) -> Answer:
    """Call each route, with secrets in the headers and in the URL, and keep what comes.

    /retrieve is called both ways, and with a bad body.
    Return the buffered answer of /retrieve.
    """
    ask = {"query": QUESTION, "project_id": PROJECT, "include": ["usage", "trace"]}
    body = json.dumps(ask | ({"retrieval_id": retrieval_id} if retrieval_id else {})).encode()
    for method, path in ROUTES:
        outputs.keep("response", (await call(url, method, path + CODE, HEADERS)).raw)
    outputs.keep(
        "response",
        (await call(url, "POST", f"/retrieve{CODE}", HEADERS | JSON, b'{"query": 1}')).raw,
    )
    to_nodes = json.dumps({"question": QUESTION, "project_id": PROJECT}).encode()
    for accept in (JSON, STREAM):
        nodes = await call(url, "POST", f"{RAG}{CODE}", HEADERS | accept, to_nodes)
        outputs.keep("response", nodes.raw)
    streamed = await call(url, "POST", f"/retrieve{CODE}", HEADERS | STREAM, body)
    outputs.keep("response", streamed.raw)
    for name, data in events(streamed.body) if streamed.status == 200 else ():
        outputs.keep(f"event {name}", data)
    answer = await call(url, "POST", f"/retrieve{CODE}", HEADERS | JSON, body)
    outputs.keep("response", answer.raw)
    return answer
