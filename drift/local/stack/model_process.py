"""The model server as a child process."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from drift.local import PROJECT
from drift.local.stack.child_server import Server
from drift.local.stack.children import Child
from drift.local.stack.loopback import HOST

_GRACE_S = 3.0


class ModelProcess(Server):
    """The model server, ready when it says so."""

    name = "model"
    ready_s = 180.0

    def __init__(
        self,
        folder: Path | None = None,
        port: int | None = None,
        *,
        preferred_port: int | None = None,
        module: str = "drift.local.model_server.server",
        options: Sequence[str] = (),
    ) -> None:
        """Name folder and port, temporary and free when None, and the module that is run."""
        super().__init__(folder, port, preferred_port=preferred_port)
        self._command = ["-m", module, *options]

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
            [sys.executable, *self._command, "--port", str(port), "--with-parent"],
            log=self.folder / "model.log",
            cwd=PROJECT,
            grace_s=_GRACE_S,
            remove=self.folder if self.temporary else None,
        )

    def _not_ready(self, child: Child, port: int) -> str:  # noqa: ARG002 - its own line says the port
        return "" if '"url"' in child.log_text() else "it has not said that it answers"
