"""The service over HTTP."""

from __future__ import annotations

import httpx2

from drift.client.methods import ServiceMethods


class DriftClient(ServiceMethods):
    """A service at an address, with the key of a caller where it wants one.

    A request is tried up to `max_attempts` times: where the service refused it before it worked
    (429, 503 with a `Retry-After` of up to a minute), where it did not arrive, and where the
    connection broke and the same again changes nothing, of questions under a `retrieval_id`. A
    silent service is waited for `timeout` seconds: answers may take 240. The time for a whole call
    is `asyncio.timeout`'s to say.

    Raises:
        ValueError: the address or the key is none.
    """

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 300.0, max_attempts: int = 3
    ) -> None:
        """Open nothing yet."""
        if not url.startswith(("http://", "https://")):
            raise ValueError("must be an address such as http://127.0.0.1:7071")
        key = (key or "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ValueError("A key has printable ASCII characters alone; this one has others.")
        # One of the platform's, of PROJECT_KEYS, or a token of Entra ID.
        headers = {"authorization": f"Bearer {key}", "x-functions-key": key} if key else None
        limits = httpx2.Timeout(timeout, connect=10.0)
        http = httpx2.AsyncClient(base_url=url, headers=headers, timeout=limits)
        super().__init__(http, max_attempts)
