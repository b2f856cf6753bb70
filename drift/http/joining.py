"""One run for all requests under a chosen id: the first begins it, the others hear the same."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from cachetools import TLRUCache
from starlette.requests import Request

from drift.auth.caller import Caller, Project
from drift.auth.claims import in_use
from drift.contracts.request import RetrieveRequest
from drift.core.errors import FieldProblem, InvalidRequestError
from drift.http.admission import Admission
from drift.http.shared_runs import KEPT_S, SharedRuns
from drift.http.streaming import EventStream, Start
from drift.telemetry import arrivals

KEPT_BYTES = 32 * 1024 * 1024
"""Of ended runs in one process; of more the oldest go."""
OF_A_RUN = 16 * 1024
"""What one takes beside its events."""
MAX_KEY_CHARACTERS = 255
_HEADER = "Idempotency-Key"


@dataclass(eq=False)
class _JoinedRun:
    """A run under an id; `begun` has the error of one that was not let in."""

    digest: str
    stream: EventStream
    begun: asyncio.Future[None]
    life: asyncio.Task[None] | None = None


class Joining:
    """Runs under chosen ids, while they run and for ten minutes behind an answer.

    A run is bound to the id, to its caller and what that one may see, and to the body.
    """

    def __init__(
        self, admission: Admission, shared: SharedRuns | None = None, *, keeps: bool = True
    ) -> None:
        """Join across processes with `shared`, and within this one without.

        Unless it `keeps` answers, a run is joined only while it goes on.
        """
        self._admission = admission
        self._keeps = keeps
        self._shared = shared
        self._secret = shared.secret if shared else secrets.token_bytes(32)
        self._running: dict[str, _JoinedRun] = {}
        self._answered: TLRUCache[str, _JoinedRun] = TLRUCache(
            KEPT_BYTES,
            ttu=lambda _key, _run, now: now + KEPT_S,
            getsizeof=lambda run: run.stream.size + OF_A_RUN,
        )

    def id_of(self, project: Project, key: str) -> UUID:
        """Return the id that an Idempotency-Key stands for, which nobody else can guess."""
        named = json.dumps([project.caller.name, project.id, key]).encode()
        return UUID(bytes=hmac.digest(self._secret, named, "sha256")[:16], version=4)

    async def join(self, project: Project, request: RetrieveRequest, start: Start) -> EventStream:
        """Return the events of the run under the request's id, which begins where none is.

        Raises:
            ConflictError: the id is another caller's, or stands for another body.
            DriftError: as `start` or Admission says.
        """
        caller, retrieval_id = project.caller, str(request.retrieval_id)
        key = f"{retrieval_id} {caller.reach}"
        body = request.within(project.id, project.filter).model_dump_json(exclude={"retrieval_id"})
        digest = hashlib.sha256(body.encode()).hexdigest()
        # What has failed may be claimed yet: who comes now runs it anew behind that.
        while (known := self._running.get(key)) and known.stream.is_failed and known.life:
            await asyncio.wait({known.life})
        run = known = known or self._answered.get(key)
        if run is None:
            stream, begun = EventStream(retrieval_id, stays=True), asyncio.Future[None]()
            begun.add_done_callback(lambda ended: ended.exception())
            run = self._running[key] = _JoinedRun(digest, stream, begun)
            # A task, because who came first may leave before those who came behind.
            run.life = asyncio.create_task(self._live(key, run, caller, start))
        elif run.digest != digest:
            raise in_use()

        await asyncio.shield(run.begun)
        if known:
            await self._admission.count(caller)
            arrivals.tell(joined=True)
        return run.stream

    async def _live(self, key: str, run: _JoinedRun, caller: Caller, start: Start) -> None:
        """Begin a run, and have it known until it has ended everywhere; an answer for longer."""
        stream, own, shared, holder = run.stream, run.stream.token, self._shared, None

        async def follow(shared: SharedRuns) -> None:
            with self._admission.counted(caller):
                await shared.follow(key, stream)

        try:
            holder = await shared.claim(key, run.digest, own) if shared else None
            if shared and holder and holder != own:
                stream.token = holder
                task = await self._admission.begin(caller, partial(follow, shared))
            else:
                task = await start(stream)
            stream.follow(task)
            run.begun.set_result(None)
            if shared and holder == own:
                await shared.publish(key, run.digest, stream)
            await asyncio.wait({task})
            if self._keeps and stream.is_answered and stream.token == own:
                with suppress(ValueError):  # it is larger than all that is kept
                    self._answered[key] = run
        except BaseException as error:
            if shared and holder == own:
                await shared.release(key)
            if run.begun.done():
                raise
            run.begun.set_exception(error)
        finally:
            del self._running[key]

    async def close(self) -> None:
        """Give the ends of runs a moment to reach the other processes."""
        lives = [run.life for run in self._running.values() if run.life]
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*lives), 1.0)


def key_of(request: Request, retrieval_id: UUID | None) -> str | None:
    """Return the Idempotency-Key of a request; None without one, or beside the same id in the body.

    Raises:
        InvalidRequestError: it is none, is given twice, or is another one than the body's id.
    """
    given, problem = request.headers.getlist(_HEADER), ""
    if not given:
        return None
    # A byte that is no text becomes a lone surrogate, which nobody prints.
    key = given[0].encode("latin-1").decode(errors="surrogateescape")
    if len(given) > 1:
        problem = "is given twice"
    elif not (1 <= len(key) <= MAX_KEY_CHARACTERS and key.isprintable()):
        problem = f"must be 1 to {MAX_KEY_CHARACTERS} printable characters"
    elif retrieval_id and key.lower() != str(retrieval_id):
        problem = "must be the retrieval_id of the body, where both are given"
    if problem:
        raise InvalidRequestError((FieldProblem(_HEADER, problem),))
    return None if retrieval_id else key
