"""The model server for tests as a child process."""

from __future__ import annotations

from drift.local.stack.model_process import ModelProcess


def slow_model(
    chat_ms: float = 0, embed_ms: float = 0, token_ms: float = 0, *, remembers: bool = False
) -> ModelProcess:
    """Return a model server with latencies, in milliseconds of each call and of each token.

    With `remembers`, a repeated request costs no work.
    """
    latencies = {"chat": chat_ms, "embed": embed_ms, "token": token_ms}
    options = [f"--{name}-ms={ms:g}" for name, ms in latencies.items()]
    remembering = ["--remember"] if remembers else []
    return ModelProcess(module="tests.model_server", options=[*options, *remembering])
