"""The model server for tests, as a process: `python -m tests.model_server`."""

from __future__ import annotations

import sys

from drift.local.model_server.server import parser, serve
from tests.model_server.api import FaultyApi


def main() -> int:
    """Serve until told to stop; return the exit code."""
    options = parser(__doc__ or "")
    for name, what in (("chat", "a chat reply"), ("embed", "an embedding"), ("token", "a token")):
        options.add_argument(f"--{name}-ms", type=float, default=0.0, help=f"latency of {what}")
    options.add_argument("--remember", action="store_true", help="do the same work once")
    given = options.parse_args()
    api = FaultyApi(
        chat_s=given.chat_ms / 1000,
        embed_s=given.embed_ms / 1000,
        token_s=given.token_ms / 1000,
        remembers=given.remember,
    )
    return serve(api.app(), given.port, with_parent=given.with_parent)


if __name__ == "__main__":
    sys.exit(main())
