"""A reranker over the model server, and servers of other makes that it meets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from drift.llm.rerank import CohereReranker, build_client, rerank_url
from drift.llm.retry import RetryPolicy

KEY = "canary-rerank-key"
TEXTS = ("The tide is high.", "The pilot boards at the Outer Buoy.", "A storm came.")
QUESTION = "Where does the pilot board?"
MOST_OF_TEI = 32

Answering = Callable[[dict[str, Any]], tuple[int, str]]


class Clock:
    """A clock that stands until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def reranker_of(
    url: str, timeout_s: float = 4.0, attempts: int = 1, clock: Clock | None = None
) -> AsyncIterator[CohereReranker]:
    """Yield a reranker as the settings would make it, which tries so often."""
    url = rerank_url(url)
    client = await asyncio.to_thread(build_client, url, KEY)  # it reads certificates
    retry = RetryPolicy(attempts, 0.0)
    made = CohereReranker(client, url, "a-model", retry, timeout_s, clock or Clock())
    try:
        yield made
    finally:
        await made.close()


@contextmanager
def answering(answer: Answering) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the address of a server that answers bodies so, and the bodies that came."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            status, text = answer(bodies[-1])
            self.send_response(status)
            self.send_header("content-type", "application/json" if status == 200 else "text/plain")
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/rerank", bodies
        server.shutdown()
        thread.join()


def tei(body: dict[str, Any]) -> tuple[int, str]:
    """Answer as Text Embeddings Inference: other names, and 32 texts a request."""
    if "texts" not in body:
        return 422, "Failed to deserialize the JSON body: missing field `texts` at line 1"
    texts = body["texts"]
    if len(texts) > MOST_OF_TEI:
        said = f"batch size {len(texts)} > maximum allowed batch size {MOST_OF_TEI}"
        return 422, json.dumps({"error": said, "error_type": "Validation"})
    rows = [{"index": at, "score": len(text) / 1000} for at, text in enumerate(texts)]
    return 200, json.dumps(sorted(rows, key=lambda row: -row["score"]))


def of_cohere(**more: Any) -> Answering:
    """Answer as Cohere, with two of three texts in another order than they came."""

    def answer(body: dict[str, Any]) -> tuple[int, str]:
        rows = [{"index": at, "relevance_score": at / 10} for at in range(len(body["documents"]))]
        return 200, json.dumps({"results": rows[::-1], **more})

    return answer
