"""The model server as a child process."""

from __future__ import annotations

import sys
from pathlib import Path

from drift.local import PROJECT
from drift.local.stack.children import Child
from drift.local.stack.loopback import HOST
from drift.local.stack.server import Server

_GRACE_S = 3.0


class ModelProcess(Server):
    """`drift.local.model_server.server`, ready when it says so."""

    name = "model"
    ready_s = 60.0

    def __init__(  # noqa: PLR0913 - all by name
        self,
        folder: Path | None = None,
        port: int | None = None,
        *,
        preferred_port: int | None = None,
        chat_ms: float = 0,
        embed_ms: float = 0,
        token_ms: float = 0,
        remembers: bool = False,
    ) -> None:
        """Name the folder for its log and the port; None is a temporary folder and a free port.

        `chat_ms` and `embed_ms` are latencies of each call, `token_ms` that of each token of a
        reply, in milliseconds; with `remembers`, a repeated request costs no work.
        """
        super().__init__(folder, port, preferred_port)
        self._options = [
            "--chat-ms",
            f"{chat_ms:g}",
            "--embed-ms",
            f"{embed_ms:g}",
            "--token-ms",
            f"{token_ms:g}",
            *(["--remember"] if remembers else []),
        ]

    @property
    def url(self) -> str:
        """The root of its routes."""
        return f"http://{HOST}:{self.port}"

    @property
    def env(self) -> dict[str, str]:
        """The settings that lead to it."""
        return {
            "OAI_BASE_URL": self.url,
            "OAI_MODEL": "drift-extractive",
            "OAI_KEY": "local",
            "OAI_EMBED_MODEL_NAME": "wordllama-256",
            "VECTOR_INDEX_DIMENSIONS": "256",
        }

    def _launch(self, port: int) -> Child:
        return Child(
            [
                sys.executable,
                "-m",
                "drift.local.model_server.server",
                "--port",
                str(port),
                "--with-parent",
                *self._options,
            ],
            log=self.folder / "model.log",
            cwd=PROJECT,
            grace_s=_GRACE_S,
            remove=self.folder if self.temporary else None,
            keep_open=self.keep_open,
        )

    def _not_ready(self, child: Child, port: int) -> str:  # noqa: ARG002 - its own line says the port
        return "" if '"url"' in child.log_text() else "it has not said that it answers"
