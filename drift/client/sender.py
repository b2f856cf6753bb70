"""Sends requests to the service, again where that is safe; what is no answer becomes an error."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import httpx2
from pydantic_core import to_json

from drift.client.problems import UnavailableError, error_of
from drift.core.errors import (
    FieldProblem,
    InvalidRequestError,
    NotConfiguredError,
    StoppingError,
)

MOST_WAIT_S = 60
"""A longer `Retry-After` is the caller's to obey: it gets the error at once."""
FIRST_PAUSE_S = 0.5
_EARLY = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


class Sender:
    """A client of the service that tries a request up to `max_attempts` times.

    Sent again is what the service refused before it worked (429, 503 with `Retry-After`), what did
    not reach it, and, where it `repeats`, what has no other outcome when it comes twice.
    """

    def __init__(self, http: httpx2.AsyncClient, max_attempts: int) -> None:
        """Open nothing yet."""
        self.http = http
        self.max_attempts = max_attempts

    async def send(  # noqa: PLR0913 - what a request has
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        params: Mapping[str, str | None] | None = None,
        repeats: bool = False,
        stream: bool = False,
        **parts: Any,  # noqa: ANN401 - of a request, as httpx2 names them
    ) -> httpx2.Response:
        """Return an answer of the 2xx; with `stream` its body is still to be read.

        What is None in the body and in the parameters is left out.

        Raises:
            DriftError: the service's own error, or UnavailableError where none came.
        """
        try:
            parts["params"] = _given(params)
            if body is not None:
                parts["content"] = to_json(_given(body))
                parts["headers"] = {"content-type": "application/json", **parts.get("headers", {})}
            request = self.http.build_request(method, path, **parts)
        except (ValueError, httpx2.InvalidURL) as error:
            problem = "must be text without lone surrogates, numbers, lists and objects of these"
            raise InvalidRequestError((FieldProblem("", problem),)) from error
        attempt, was_cut = 0, False
        while True:
            attempt += 1
            try:
                response = await self.http.send(request, stream=stream)
                if response.is_success:
                    return response
                await response.aread()
            except httpx2.TransportError as error:
                is_cut = repeats and not isinstance(error, httpx2.TimeoutException)
                if attempt >= self.max_attempts or not (is_cut or isinstance(error, _UNSENT)):
                    raise self.unavailable(error) from error
                was_cut = was_cut or is_cut
                await self.pause(attempt)
                continue
            if was_cut and method == "DELETE" and response.status_code == HTTPStatus.NOT_FOUND:
                return response  # the request before has done it
            refusal = error_of(response)
            is_early = response.status_code in _EARLY and not isinstance(
                refusal, NotConfiguredError
            )
            after = response.headers.get("retry-after", "")
            again = is_early and after.isdecimal() and int(after) <= MOST_WAIT_S
            if isinstance(refusal, StoppingError):  # which may end what was begun
                again, was_cut = again and repeats, True
            if attempt >= self.max_attempts or not again:
                raise refusal
            await asyncio.sleep(int(after))

    async def pause(self, failures: int) -> None:
        """Wait before the next attempt, twice as long each time."""
        await asyncio.sleep(FIRST_PAUSE_S * 2 ** (failures - 1))

    def unavailable(self, error: Exception | None = None) -> UnavailableError:
        """Return what to tell of a service that gave no whole answer."""
        why = f" ({type(error).__name__})" if error else ""
        address = self.http.base_url.copy_with(userinfo=b"")
        return UnavailableError(
            f"The service at {address} gave no whole answer{why}. Does it run at "
            "this address? What has a `retrieval_id` of yours can be asked again under it."
        )


def _given(fields: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (fields or {}).items() if value is not None}
