"""What a program asks of the service: the same methods over HTTP and in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, Literal, Self, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx2
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from drift.client.answers import Answer, AnswerDelta, AnswerReplaced, Citations, StreamEvent
from drift.client.event_stream import ACCEPT, ServerEvent, read_events
from drift.client.problems import error_from
from drift.client.sender import Sender
from drift.contracts.answer import Problem, TraceNode
from drift.contracts.documents import MEGABYTE, MOST_DOCUMENT_MB, IndexedOut
from drift.contracts.evidence import EvidenceAnswer
from drift.contracts.feedback import Reason
from drift.contracts.filter import Filter
from drift.contracts.progress import Event, ProgressMessage
from drift.contracts.reading import DocumentOut, DocumentsPage, ProjectItem, ProjectsPage
from drift.contracts.request import Depth, HistoryMessage, Include, RequestLimits
from drift.core.errors import FieldProblem, InvalidRequestError

AnyFilter = Filter | Mapping[str, Any] | None
"""Which documents may be used: a filter, or the same as JSON has it."""
History = Sequence[HistoryMessage | Mapping[str, str]]
AnyLimits = RequestLimits | Mapping[str, float] | None
_SILENCE = httpx2.Timeout(60.0, connect=10.0)
"""A stream that is silent for as long is broken: it beats every 15 seconds."""
_PAGE = 200
_FILE = {"content-type": "application/octet-stream"}
_TOLD: Mapping[str, type[StreamEvent]] = {
    Event.PROGRESS: ProgressMessage,
    Event.ANSWER_DELTA: AnswerDelta,
    Event.ANSWER_REPLACED: AnswerReplaced,
    Event.CITATIONS: Citations,
    Event.FOLLOWUP: TraceNode,
}
_Page = TypeVar("_Page", ProjectsPage, DocumentsPage)
_Shape = TypeVar("_Shape", bound=BaseModel)


class ServiceMethods:
    """Questions to the service, what it is to hold, and what it holds.

    A `project` may be left out where one needs no name (docs/access.md). Each method raises the
    service's own errors, all of them DriftErrors, and UnavailableError where no answer came.
    A cancelled call ends its work, unless its `retrieval_id` was chosen.
    """

    def __init__(self, http: httpx2.AsyncClient, max_attempts: int = 3) -> None:
        """Send by this client, which closes with this object."""
        self._sender = Sender(http, max_attempts)

    async def __aenter__(self) -> Self:
        """Open nothing yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._sender.http.aclose()

    # ------------------------------------------------------------------------------- questions
    async def ask(  # noqa: PLR0913 - what a request has
        self,
        question: str,
        *,
        project: str | None = None,
        depth: Depth = "drift",
        top_k: int = 5,
        filter: AnyFilter = None,  # noqa: A002 - as everywhere
        include: Sequence[Include] = (),
        history: History = (),
        limits: AnyLimits = None,
        retrieval_id: UUID | str | None = None,
    ) -> Answer:
        """Return the answer to a question, with checked citations.

        A `retrieval_id` of yours makes all requests under it one run: it goes on when its caller
        leaves, and is asked again where the connection breaks (docs/http.md).
        """
        body: dict[str, object] = {"query": question, "project_id": project, "depth": depth}
        body |= {"top_k": top_k, "filter": filter, "include": include, "history": history}
        body |= {"limits": limits, "retrieval_id": retrieval_id}
        repeats = retrieval_id is not None
        response = await self._sender.send("POST", "/retrieve", body, repeats=repeats)
        return self._answer(response.content, response)

    async def stream(  # noqa: PLR0913 - as `ask`
        self,
        question: str,
        *,
        project: str | None = None,
        depth: Depth = "drift",
        top_k: int = 5,
        filter: AnyFilter = None,  # noqa: A002 - as everywhere
        include: Sequence[Include] = (),
        history: History = (),
        limits: AnyLimits = None,
        retrieval_id: UUID | str | None = None,
    ) -> AsyncGenerator[StreamEvent]:
        """Yield what is told of an answer while it is written; the last is the Answer.

        Under a `retrieval_id` of yours a broken stream goes on where it broke.
        """
        body: dict[str, object] = {"query": question, "project_id": project, "depth": depth}
        body |= {"top_k": top_k, "filter": filter, "include": include, "history": history}
        body |= {"limits": limits, "retrieval_id": retrieval_id}
        repeats, sender, last_id, failures = retrieval_id is not None, self._sender, "", 0
        is_answered = False
        while True:
            headers = {**ACCEPT, "last-event-id": last_id} if last_id else ACCEPT
            how: dict[str, Any] = {"stream": True, "headers": headers, "timeout": _SILENCE}
            response = await sender.send("POST", "/retrieve", body, repeats=repeats, **how)
            broken: Exception | None = None
            try:
                async for told in read_events(response.aiter_bytes()):
                    if _run_of(told.id) == _run_of(last_id):  # one begun anew costs as much again
                        failures = 0
                    last_id = told.id
                    if event := self._event(told, response):
                        is_answered = isinstance(event, Answer)
                        yield event
            except httpx2.TransportError as error:
                broken = error
            finally:
                await response.aclose()
            if is_answered:
                return
            failures += 1
            if not repeats or failures >= sender.max_attempts:
                raise sender.unavailable(broken) from broken
            await sender.pause(failures)

    async def search(  # noqa: PLR0913 - as `ask`
        self,
        question: str,
        *,
        project: str | None = None,
        top_k: int = 5,
        filter: AnyFilter = None,  # noqa: A002 - as everywhere
        include: Sequence[Include] = (),
        history: History = (),
        limits: AnyLimits = None,
        retrieval_id: UUID | str | None = None,
    ) -> EvidenceAnswer:
        """Return the evidence for a question, the best first, without asking a model."""
        body: dict[str, object] = {"query": question, "project_id": project, "answer": False}
        body |= {"top_k": top_k, "filter": filter, "include": include, "history": history}
        body |= {"limits": limits, "retrieval_id": retrieval_id}
        response = await self._sender.send("POST", "/retrieve", body, repeats=True)
        return self._read(EvidenceAnswer, response.content)

    async def feedback(  # noqa: PLR0913 - what may be said
        self,
        retrieval_id: UUID | str,
        *,
        score: Literal[1, -1],
        fact: int | str | None = None,
        reason: Reason | None = None,
        comment: str | None = None,
        expected: Sequence[str] = (),
    ) -> None:
        """Say whether an answer was good; what was said of it before is replaced."""
        body: dict[str, object] = {"retrieval_id": retrieval_id, "score": score, "fact": fact}
        body |= {"reason": reason, "comment": comment, "expected": expected}
        await self._sender.send("POST", "/feedback", body, repeats=True)

    # ------------------------------------------------------------------------------- documents
    async def add(  # noqa: PLR0913 - what is said of a document
        self,
        document_id: str,
        content: str | bytes | Path,
        *,
        project: str | None = None,
        title: str = "",
        source_uri: str = "",
        tags: Sequence[str] = (),
        metadata: Mapping[str, str | float | bool] | None = None,
        created_at: date | str | None = None,
        updated_at: date | str | None = None,
    ) -> IndexedOut:
        """Have a project hold a document: its text, or a file of the kind that its id ends with.

        What is said of a document beside its text needs the text: of a file nothing can be said.

        Raises:
            OSError: the file cannot be read.
        """
        about = {"id": document_id, "project_id": project}
        said: dict[str, object] = {"title": title, "source_uri": source_uri, "tags": tags}
        said |= {"metadata": metadata, "created_at": created_at, "updated_at": updated_at}
        said = {name: value for name, value in said.items() if value}
        if isinstance(content, str):
            sent: dict[str, Any] = {"body": {**about, "text": content, **said}}
        elif said:
            problem = "can be said of a text alone: give the text of the document, not its file"
            raise InvalidRequestError(tuple(FieldProblem(name, problem) for name in said))
        else:
            if isinstance(content, Path):
                content = await asyncio.to_thread(_beginning, content)
            sent = {"params": about, "content": content, "headers": _FILE}
        response = await self._sender.send("POST", "/documents", repeats=True, **sent)
        return self._read(IndexedOut, response.content)

    async def remove(self, document_id: str, *, project: str | None = None) -> None:
        """Take a document out of a project, with its chunks; NotFoundError where it is not."""
        path, params = f"/documents/{_in_path(document_id)}", {"project_id": project}
        await self._sender.send("DELETE", path, repeats=True, params=params)

    async def content(self, document_id: str, *, project: str | None = None) -> bytes:
        """Return the original file of a document; ContentNotKeptError where it is not kept."""
        path, params = f"/documents/{_in_path(document_id)}/content", {"project_id": project}
        return (await self._sender.send("GET", path, repeats=True, params=params)).content

    # ---------------------------------------------------------------------------------- lists
    async def projects(self) -> AsyncGenerator[ProjectItem]:
        """Yield the projects that the caller may read, by id."""
        async for page in self._pages("/projects", ProjectsPage):
            for one in page.projects:
                yield one

    async def documents(
        self,
        project: str,
        *,
        filter: AnyFilter = None,  # noqa: A002 - as everywhere
    ) -> AsyncGenerator[DocumentOut]:
        """Yield the documents of a project, by id."""
        only = to_json(filter).decode() if filter else None
        path = f"/projects/{_in_path(project)}/documents"
        async for page in self._pages(path, DocumentsPage, filter=only):
            for one in page.documents:
                yield one

    async def _pages(
        self, path: str, shape: type[_Page], **params: str | None
    ) -> AsyncGenerator[_Page]:
        cursor: str | None = None
        while True:
            asked = {"limit": str(_PAGE), "cursor": cursor, **params}
            response = await self._sender.send("GET", path, repeats=True, params=asked)
            page = self._read(shape, response.content)
            yield page
            if (cursor := page.next) is None:
                return

    # --------------------------------------------------------------------------------- answers
    def _read(self, shape: type[_Shape], body: str | bytes) -> _Shape:
        try:
            return shape.model_validate_json(body)
        except ValidationError as error:
            raise self._sender.unavailable(error) from None  # it quotes the answer

    def _answer(self, body: str | bytes, response: httpx2.Response) -> Answer:
        answer = self._read(Answer, body)
        with suppress(ValueError):  # a proxy that takes headers out
            answer.retrieval_id = UUID(response.headers.get("x-retrieval-id", ""))
        return answer

    def _event(self, told: ServerEvent, response: httpx2.Response) -> StreamEvent | None:
        """Return an event; None for one of a kind that is not known yet."""
        if told.name == Event.RESULT:
            return self._answer(told.data, response)
        if told.name == Event.ERROR:
            raise error_from(self._read(Problem, told.data))
        shape = _TOLD.get(told.name)
        return self._read(shape, told.data) if shape else None


def _run_of(event_id: str) -> str:
    return event_id.rpartition("-")[0]


def _beginning(path: Path) -> bytes:
    """Return a file, of one that is too large as much as shows that."""
    with path.open("rb") as file:
        return file.read(MOST_DOCUMENT_MB * MEGABYTE + 1)


def _in_path(value: str) -> str:
    """Return an id as one segment of a path; one of dots alone would be taken out."""
    return quote(value, safe="", errors="surrogatepass").replace(".", "%2E")
