"""Where the stages of an ingestion that need no graph are done: here, or by workers of Dask.

Reading, cutting and the calls of models are pure: bytes and texts go in, records, vectors and
replies come out. A worker needs neither the files nor Neo4j, and what one had not handed over when
it died is done once more by another.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from drift.core.deadline import Deadline
from drift.core.errors import DriftError, IngestError, ModelUnavailableError
from drift.graph.writing.records import ChunkRecord, DocumentRecord
from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.reading_process import Guard, ReadingProcess, guarded
from drift.indexing.records import RULES
from drift.local.ingest.blobs import Blob
from drift.local.ingest.by_model.asking import Asked
from drift.local.ingest.files import SourceFile
from drift.model.calls import ChatReply, Embeddings, Prompt
from drift.nodes.embedding_calls import CALLS_IN_FLIGHT, TEXTS_A_CALL
from drift.ports import Embedder

if TYPE_CHECKING:
    from distributed import Client

FILES_A_BATCH, TEXTS_A_BATCH = 16, 512
"""Work of about 0.1 s: a batch costs all sides 4 ms together, however small it is."""
BATCHES_A_THREAD = 2
"""One that a worker is at, and one that waits, so that no worker waits for the network."""
CONNECT_S = 10.0

Item = TypeVar("Item")
Result = TypeVar("Result")
Document = SourceFile | SourceDocument
Read = tuple[DocumentRecord, tuple[ChunkRecord, ...]]
Work = tuple[Document, Callable[[Document], Read | Skipped]]
"""A document or its file, and what makes the records of it; picklable."""
Models = Callable[[], tuple[Asked, Embedder]]


class LostBatchError(ModelUnavailableError):
    """Every worker that was given this batch died of it."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """Stages of this process: each file under its guard, one after another.

    `at_once` batches go on at a time, and one call embeds so many texts.
    """

    guard: Guard = guarded
    at_once: int = CALLS_IN_FLIGHT
    texts_a_call: int = TEXTS_A_CALL

    async def read(self, batch: Sequence[Work]) -> list[Read | Skipped]:
        """Return the records of each file, in order, or why it is skipped."""
        return await asyncio.to_thread(_each, self.guard, batch)


@dataclass(frozen=True, slots=True)
class Workers:
    """Stages, an embedder and a chat model on the workers of a scheduler.

    `models` makes the models where a worker first needs them; picklable and hashable.
    """

    client: Client
    models: Models
    at_once: int
    texts_a_call: int = TEXTS_A_BATCH

    async def read(self, batch: Sequence[Work]) -> list[Read | Skipped]:
        """Return the records of each file, in order, or why it is skipped."""
        sent = await asyncio.to_thread(lambda: list(map(_with_content, batch)))
        try:
            read: list[Read | Skipped] = await self._run(_read, RULES, sent)
        except LostBatchError as error:
            return [Skipped(one.id, error.detail, unreadable=True) for one, _ in batch]
        return read

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text, in order; errors as for the port, and LostBatchError."""
        made: Embeddings = await self._run(_embed, self.models, texts, deadline.require())
        return made

    async def complete(self, prompt: Prompt, deadline: Deadline) -> ChatReply:
        """Return the model's reply; errors as for the port, and LostBatchError."""
        made: ChatReply = await self._run(_complete, self.models, prompt, deadline.require())
        return made

    async def _run(self, work: Callable[..., Any], *given: object) -> Any:  # noqa: ANN401 - what `work` returns
        """Have a worker do it, another one where that dies; LostBatchError where too many died."""
        from distributed import KilledWorker  # noqa: PLC0415 - an extra
        from distributed.client import FutureCancelledError  # noqa: PLC0415 - the same

        try:
            return await self.client.submit(work, *given, pure=False)
        except DriftError:
            raise
        except KilledWorker as error:
            raise LostBatchError("ended every worker that was given it") from error
        except FutureCancelledError as error:
            raise IngestError(
                "The scheduler is gone. Start it again, then run this again: it goes on from what "
                "is stored."
            ) from error
        except Exception as error:
            raise IngestError(
                f"A worker cannot do its part ({type(error).__name__}: {error}). Workers need the "
                f"release of drift-neo4j[local,scale] that this command has."
            ) from error


Stages = InProcess | Workers


@asynccontextmanager
async def workers(address: str, models: Models) -> AsyncGenerator[Workers]:
    """Yield the workers of the scheduler at an address; IngestError where there are none."""
    try:
        import dask  # noqa: PLC0415 - an extra
        from distributed import Client  # noqa: PLC0415 - the same
    except ImportError as error:
        raise IngestError("--scheduler needs Dask: pip install 'drift-neo4j[scale]'.") from error

    start = f"workers with `dask worker {address} --nthreads 1`"
    # A file of 50 MB goes out in one piece, which is no mistake here.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        client = Client(address, asynchronous=True, timeout=CONNECT_S, set_as_default=False)
        try:
            try:
                await client
            except (OSError, ValueError) as error:
                raise IngestError(
                    f"No scheduler answers at {address}. Start one with `dask scheduler` and its "
                    f"{start}, or leave --scheduler out."
                ) from error
            threads = sum((await client.nthreads()).values())
            if not threads:
                raise IngestError(f"The scheduler at {address} has no workers. Start {start}.")
            yield Workers(client, models, BATCHES_A_THREAD * threads)
        finally:
            await client.close()


async def read_all(stages: Stages, works: Sequence[Work]) -> AsyncGenerator[Read | Skipped]:
    """Yield the records of each file, in order, while the next ones are read."""

    async def batches() -> AsyncGenerator[list[Work]]:
        left = iter(works)
        while batch := list(islice(left, FILES_A_BATCH)):
            yield batch

    async with aclosing(ahead(batches(), stages.read, stages.at_once)) as read:
        async for batch in read:
            for one in batch:
                yield one


async def ahead(
    items: AsyncIterable[Item], work: Callable[[Item], Awaitable[Result]], at_once: int
) -> AsyncGenerator[Result]:
    """Yield what is made of each item, in order, while it is made of so many of the next ones."""
    waiting: deque[asyncio.Future[Result]] = deque()
    try:
        async for item in items:
            waiting.append(asyncio.ensure_future(work(item)))
            if len(waiting) > at_once:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for future in waiting:
            future.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _with_content(work: Work) -> Work:
    """Return work for a machine that has no such file."""
    document, make = work
    if isinstance(document, SourceDocument):
        return work
    loaded = guarded(document.id, document.loaded)
    if isinstance(loaded, Skipped):
        return document, partial(_told, loaded)
    return loaded, make


def _told(skipped: Skipped, _: Document) -> Skipped:
    return skipped


# ----------------------------------------------------------------------------- what a worker does
_own = threading.local()


def _read(rules: str, batch: Sequence[Work]) -> list[Read | Skipped]:
    """Read in a process beside the worker: a file that takes long, or ends it, is skipped alone."""
    if rules != RULES:
        raise IngestError(
            f"A worker reads files by the rules {RULES}, and this command by {rules}: both need "
            f"the same release of drift-neo4j."
        )
    if not hasattr(_own, "process"):
        _own.process = ReadingProcess()
    return _each(_own.process.guarded, batch)


def _each(guard: Guard, batch: Sequence[Work]) -> list[Read | Skipped]:
    fetched = (_with_content(one) if _is_far(one[0]) else one for one in batch)
    return [guard(document.id, partial(make, document)) for document, make in fetched]


def _is_far(document: Document) -> bool:
    """Tell whether it has to be fetched; then several are at once, beside what is read."""
    return isinstance(document, Blob) and document.content is None


@lru_cache(maxsize=1)
def _made(models: Models) -> tuple[Asked, Embedder]:
    return models()


async def _embed(models: Models, texts: Sequence[str], seconds: float) -> Embeddings:
    return await _made(models)[1].embed(texts, Deadline.after(seconds))


async def _complete(models: Models, prompt: Prompt, seconds: float) -> ChatReply:
    return await _made(models)[0].complete(prompt, Deadline.after(seconds))
