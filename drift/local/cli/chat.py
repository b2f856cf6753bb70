"""`drift chat`: a conversation in the terminal, with a project's documents or without."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from drift.core.deadline import Deadline
from drift.core.errors import DriftError, LocalStackError
from drift.local.cli import options
from drift.local.cli.console import NOTHING_FOUND, references, say, stderr
from drift.local.cli.run import command, typed_line
from drift.prompting.markup import element, plain

if TYPE_CHECKING:
    import httpx2

    from drift.contracts.conversation import Said
    from drift.model.calls import Prompt
    from drift.ports import ChatModel

MAX_TURNS = 6
"""Of what was said, as much goes into a prompt."""
MAX_CHARACTERS = 2000
"""Of each question and of each answer."""

_ALONE = """You are a helpful assistant. Answer the question from what you know, in its language, in
a few sentences. Say so where you do not know. `<asked>` holds what was said before."""


TIMEOUT_S = 240.0
HELP = "/new forgets what was said, /help shows this, /quit or Ctrl-D ends; all else is a question."
COMMAND = re.compile(r"/[\w?]*")
"""A word behind a slash alone is meant for the program; a path or a sentence is a question."""


@command()
async def chat(
    stack_options: options.StackOptions,
    project: Annotated[
        str | None,
        options.optional_project(
            "The project's id, with --rag.", show_default=options.DEMO_PROJECT
        ),
    ] = None,
    rag: Annotated[
        bool, typer.Option("--rag", help="Answer from the project's documents, with references.")
    ] = False,
    depth: Annotated[
        Literal["quick", "auto", "drift"] | None,
        typer.Option(help="How far to go with --rag.", show_default="auto"),
    ] = None,
    filters: options.Filters = None,
) -> None:
    """Talk in the terminal; the answer is shown while it is written.

    Without --rag the model is asked alone, so that one sees what the documents change. With it a
    question that needs the ones before it is searched for as it stands alone. /new forgets what was
    said, /help lists these commands, /quit or Ctrl-D ends.
    """
    for name, given in (("--project", project), ("--depth", depth), ("--filter", filters)):
        is_alone = given is not None and not rag
        options.refuse(is_alone, "goes with --rag: without it the model is asked alone", name)

    only = options.filter_of(filters)

    import httpx2

    from drift.http import wiring
    from drift.http.page import STAND_IN
    from drift.local.cli.servers import recommend_up, running
    from drift.local.hosts.local_host import serving

    async with running(stack_options, reads=rag) as (stack, values), serving() as url:
        if values.oai_model == STAND_IN and not rag:
            say("The stand-in repeats questions, for it has no language model: try --rag.")

        async with httpx2.AsyncClient(base_url=url, timeout=TIMEOUT_S, trust_env=False) as client:
            named = {"project_id": project or options.DEMO_PROJECT, "depth": depth or "auto"}
            body = {**named, "filter": only}
            answer = partial(answer_of_documents, client, body)
            if not rag:
                model, _ = await asyncio.to_thread(wiring.build_models, values)
                answer = partial(answer_of_model, model)
            conversation = Conversation(answer, partial(print, end="", flush=True))
            if sys.stdin.isatty():
                say(HELP)
            while line := await _asked():
                if not await conversation.said(line):
                    break

        recommend_up(stack)


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question as it was asked, and its answer."""

    question: str
    answer: str


Write = Callable[[str], object]
Before = Sequence[AnsweredQuestion]
Answering = Callable[[str, Before, Write], Awaitable[str]]
"""Writes the answer to a question and returns its words, or raises a DriftError."""


def alone(question: str, before: Before) -> Prompt:
    """Ask the model a question, without any document."""
    from drift.model.calls import Prompt

    return Prompt("chat", _ALONE, _said(question, before))


def _said(question: str, before: Before) -> str:
    said = [
        {"user": turn.question[:MAX_CHARACTERS], "assistant": turn.answer[:MAX_CHARACTERS]}
        for turn in before[-MAX_TURNS:]
    ]
    asked = element("asked", plain(json.dumps(said, ensure_ascii=False))) if said else ""
    return "\n\n".join(filter(None, (asked, element("question", plain(question)))))


async def answer_of_documents(
    client: httpx2.AsyncClient,
    body: dict[str, Any],
    question: str,
    before: Before,
    write: Write,
) -> str:
    """Write the function's answer, with references, and what was searched for in its place."""
    from drift.contracts.conversation import newest
    from drift.contracts.progress import Event
    from drift.local.cli.asking import refusal
    from drift.local.event_stream import ACCEPT, read_events

    turns: list[Said] = []
    for turn in before:
        turns += [("user", turn.question), ("assistant", turn.answer)]
    history = [message.model_dump() for message in newest(turns)]
    include = ["references", "verdict", "query"]
    asked = {**body, "query": question, "history": history, "include": include}
    told = ""
    async with client.stream("POST", "/retrieve", json=asked, headers=ACCEPT) as reply:
        if reply.is_error:
            await reply.aread()
            raise LocalStackError(refusal(reply.json()))

        async for name, data in read_events(reply):
            if name == Event.ANSWER_DELTA:
                told += data["text"]
                write(data["text"])
            elif name == Event.ANSWER_REPLACED:
                told = data["text"]
                write(f"\n\n(That is taken back. The answer is:)\n{told}")
            elif name == Event.RESULT:
                empty = NOTHING_FOUND if data.get("no_data_found") else data["final_answer"]
                write(f"{'' if told else empty}\n\n{references(data)}")
                query = data.get("query")
                if query and query["rewritten"]:
                    say(f"Searched for: {query['searched']}")
            elif name == Event.ERROR:
                raise LocalStackError(refusal(data))

    return told


async def answer_of_model(model: ChatModel, question: str, before: Before, write: Write) -> str:
    """Write what the model knows by itself, as it comes."""
    told = ""

    def hear(text: str) -> None:
        nonlocal told
        if not text.startswith(told):
            write("\n\n(That broke off. Once more:)\n")
            told = ""
        write(text[len(told) :])
        told = text

    reply = await model.complete(alone(question, before), Deadline.after(TIMEOUT_S), hear)
    write("\n")
    return reply.text


@dataclass(slots=True)
class Conversation:
    """What was said so far, with who answers."""

    partner: Answering
    write: Write
    turns: list[AnsweredQuestion] = field(default_factory=list)

    async def said(self, line: str) -> bool:
        """Answer a line of the user's, or do what it commands; return False where it ends all."""
        match line.strip():
            case "":
                pass
            case "/quit" | "/exit":
                return False
            case "/new":
                self.turns.clear()
                say("What was said is forgotten.")
            case "/help" | "/?":
                say(HELP)
            case command if COMMAND.fullmatch(command):
                say(f"{command} is no command. {HELP}")
            case question:
                await self._answer(question)
        return True

    async def _answer(self, question: str) -> None:
        """Answer; what fails is said, and the conversation goes on."""
        import httpx2

        from drift.local.cli.asking import said_once

        try:
            with said_once():
                answer = await self.partner(question, self.turns, self.write)
        except (DriftError, httpx2.HTTPError) as error:
            self.write("\n")
            say(error.detail if isinstance(error, DriftError) else f"The function: {error}.")
            return

        self.turns.append(AnsweredQuestion(question, answer))


async def _asked() -> str:
    """Return what the user types next; "" at the end of the input."""
    if sys.stdin.isatty():
        stderr.print("\n[bold]>[/] ", end="")
    return await typed_line()
