"""The same objects for programs without an event loop: each has one of its own, in a thread.

They work where a loop runs already, as in a notebook, and from several threads at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, cast

from drift.client import client
from drift.client.methods import ServiceMethods

if TYPE_CHECKING:  # it loads the whole service
    from pathlib import Path

    from drift.http.service import Service
    from drift.http.settings import Settings

__all__ = ["Drift", "DriftClient"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_END = object()


def _blocking(
    method: Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[_Twin, _P], _T]:
    @wraps(method)
    def call(self: _Twin, /, *args: _P.args, **named: _P.kwargs) -> _T:
        return self._run(partial(method, self._methods, *args, **named))

    return call


def _iterating(
    method: Callable[Concatenate[Any, _P], AsyncGenerator[_T]],
) -> Callable[Concatenate[_Twin, _P], Generator[_T]]:
    @wraps(method)
    def call(self: _Twin, /, *args: _P.args, **named: _P.kwargs) -> Generator[_T]:
        items = method(self._methods, *args, **named)
        # An interrupt while it waits ends the work itself.
        while (one := self._run(lambda: anext(items, _END))) is not _END:
            try:
                yield cast("_T", one)
            except BaseException:
                if not self._is_closed:
                    self._run(items.aclose)
                raise

    return call


class _Twin:
    """The methods of an asynchronous object, run in a loop that ends with the block."""

    def __init__(self, methods: ServiceMethods) -> None:
        self._methods = methods
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()
        self._is_closed = False

    def __enter__(self) -> Self:
        try:
            self._run(self._methods.__aenter__)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, and end the loop; nothing is asked of this object any more."""
        if not self._is_closed:
            self._run(self._methods.close)
            self._is_closed = True
            cast("asyncio.AbstractEventLoop", self._loop).call_soon_threadsafe(self._ending.set)
            self._thread.join()

    def _run(self, work: Callable[[], Awaitable[_T]]) -> _T:
        async def do() -> _T:
            return await work()

        with self._lock:
            if self._is_closed:
                raise RuntimeError("This object is closed: make another one.")
            if self._loop is None:
                self._loop = self._begin()
        doing = asyncio.run_coroutine_threadsafe(do(), self._loop)
        try:
            return doing.result()
        finally:
            doing.cancel()  # whoever is interrupted ends its work

    def _begin(self) -> asyncio.AbstractEventLoop:
        """Begin a loop in a thread, which keeps no process from ending."""
        begun: Future[asyncio.AbstractEventLoop] = Future()

        async def live() -> None:
            begun.set_result(asyncio.get_running_loop())
            await self._ending.wait()

        self._thread = threading.Thread(
            target=lambda: asyncio.run(live()), name="drift", daemon=True
        )
        self._thread.start()
        return begun.result()

    ask = _blocking(ServiceMethods.ask)
    stream = _iterating(ServiceMethods.stream)
    search = _blocking(ServiceMethods.search)
    feedback = _blocking(ServiceMethods.feedback)
    add = _blocking(ServiceMethods.add)
    remove = _blocking(ServiceMethods.remove)
    content = _blocking(ServiceMethods.content)
    projects = _iterating(ServiceMethods.projects)
    documents = _iterating(ServiceMethods.documents)


class DriftClient(_Twin):
    """The twin of `drift.DriftClient`: the service at an address."""

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 300.0, max_attempts: int = 3
    ) -> None:
        """Open nothing yet."""
        super().__init__(client.DriftClient(url, key, timeout=timeout, max_attempts=max_attempts))


class Drift(_Twin):
    """The twin of `drift.Drift`: the service in this process."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        build: Callable[[Settings], Service] | None = None,
        record: Path | None = None,
    ) -> None:
        """Read nothing and open nothing yet."""
        from drift import Drift as InProcess  # noqa: PLC0415 - it loads the whole service

        super().__init__(InProcess(settings, build=build, record=record))

    @classmethod
    def from_env(cls) -> Self:
        """Return it by the settings of the environment."""
        return cls()
