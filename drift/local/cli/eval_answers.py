"""`drift eval answers` and `from-feedback`: answers against what is expected of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from drift.local.cli import options
from drift.local.cli.console import print_json, say, show_line, stdout
from drift.local.cli.run import command

if TYPE_CHECKING:
    import httpx2

    from drift.local.evals.answers import AnswerQuestion, SettingAnswers

_MEASURING = {"CACHE_ANSWERS": "false", "FEEDBACK_DAYS": "0"}
"""An answer from the cache would be the same each time, and nobody scores these."""
_MOST_FAILED = 3  # so many questions in a row that get errors end a measurement


@command()
async def answers(
    stack_options: options.StackOptions,
    questions: Annotated[
        Path, typer.Argument(metavar="FILE", help="Questions, one JSON object a line.")
    ],
    project: options.Project,
    beside: Annotated[
        str | None,
        typer.Option(help="Ask also another project, or with the settings of another .env file."),
    ] = None,
    depth: Annotated[str, typer.Option(help="`drift`, `quick` or `auto`.")] = "drift",
    runs: Annotated[int, typer.Option(help="How often each is asked.", min=1, max=20)] = 3,
    floor: Annotated[
        float | None,
        typer.Option(help="Percent of what is expected, below which it fails.", min=0, max=100),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Measure a project's answers against what is expected of them.

    No model judges: documents, spans, words or statements of a file are looked for in what was
    cited, and questions that the documents do not answer must get no answer.

    Exit code 1 says that less than the floor was met, or that a question got an error under one.
    """
    from drift.local.cli.servers import WITHOUT_KEYS, running
    from drift.local.evals.answers import difference, read_answer_questions, report

    options.refuse(beside == project, "names the same project", "--beside")
    asked = read_answer_questions(questions)
    for one in asked:
        options.check_request({"query": one.text, "project_id": project, "depth": depth})
    other = _settings_of(beside)
    body = {"project_id": project, "depth": depth, "include": ["usage"]}
    async with running(stack_options, {**WITHOUT_KEYS, **_MEASURING}, reads=True):
        own = await _measured(asked, body, runs)
        columns = {project: report(asked, own)}
        if beside is not None:
            from drift.http import settings

            settings.export({**other, **WITHOUT_KEYS, **_MEASURING})
            another = body if other else {**body, "project_id": beside}
            second = await _measured(asked, another, runs)
            columns[beside] = report(asked, second)

    document: dict[str, Any] = {"runs": runs, "depth": depth, "figures": columns}
    if beside is not None:
        document["ahead"] = difference(asked, own, second)
    if as_json:
        print_json(document)
    else:
        _show(document)
    if floor is not None and (columns[project]["met"] < floor or own.failed):
        say(f"{columns[project]['met']:.1f} % of what is expected is met; the floor is {floor:g}.")
        raise typer.Exit(1)


@command()
async def from_feedback(
    stack_options: options.StackOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    project: options.Project,
) -> None:
    """Write a project's feedback as questions for `drift eval answers`.

    Praise expects the documents that were cited, or no answer where there was none; what callers
    expected stands for itself. The newest word on a question counts.
    """
    options.refuse(file.exists(), f"{file} is there already: name another file", "FILE")

    from drift.local.cli.servers import running
    from drift.local.evals.answers import question_of

    found: dict[str, dict[str, Any] | None] = {}
    async with running(stack_options, reads=True), _asking(project) as function:
        said = [one async for one in function.feedback()]
        for one in said:
            if one["question"] not in found:
                ids = [*one["expected"], *(i for f in one["facts"] for i in f["chunk_ids"])]
                chunks = {id_: chunk for id_ in ids if (chunk := await function.chunk(id_))}
                found[one["question"]] = question_of(one, chunks)

    lines = [json.dumps(one, ensure_ascii=False) for one in found.values() if one]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    say(f"{file}: {len(lines)} questions of {len(said)} callers' words.")
    if left := len(found) - len(lines):
        say(f"{left} questions are left out: nothing says what their answers should have shown.")


# -------------------------------------------------------------------------------------- the service
@dataclass(slots=True)
class _Function:
    """The function in this process, asked about one project."""

    client: httpx2.AsyncClient
    project: str
    _chunks: dict[str, dict[str, Any] | None] = field(default_factory=dict)

    async def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return an answer; LocalStackError in the function's own words."""
        return await self._read("POST", "/retrieve", json=dict(body)) or {}

    async def chunk(self, id_: str) -> dict[str, Any] | None:
        """Return a chunk of the project; None where it holds none of this id."""
        if id_ not in self._chunks:
            where = f"/chunks/{quote(id_, safe='')}"
            found = await self._read("GET", where, params={"project_id": self.project})
            self._chunks[id_] = found
        return self._chunks[id_]

    async def feedback(self) -> AsyncIterator[dict[str, Any]]:
        """Yield what callers said of the project's answers, the newest first."""
        path = f"/projects/{quote(self.project, safe='')}/feedback"
        query: dict[str, Any] = {"limit": 200}
        while page := await self._read("GET", path, params=query):
            for one in page["feedback"]:
                yield one
            if page["next"] is None:
                break
            query["cursor"] = page["next"]

    async def _read(self, method: str, path: str, **sent: Any) -> dict[str, Any] | None:  # noqa: ANN401 - httpx's
        from drift.core.errors import LocalStackError
        from drift.local.cli.asking import refusal

        reply = await self.client.request(method, path, **sent)
        found: dict[str, Any] = reply.json()
        # An expected text may be no id at all.
        if path.startswith("/chunks/") and reply.status_code in {400, HTTPStatus.NOT_FOUND}:
            return None
        if not reply.is_success:
            raise LocalStackError(refusal(found, f" (HTTP {reply.status_code})"))
        return found


@asynccontextmanager
async def _asking(project: str) -> AsyncIterator[_Function]:
    import httpx2

    from drift.local.hosts.local_host import serving

    async with (
        serving() as url,
        httpx2.AsyncClient(base_url=url, timeout=240, trust_env=False) as client,
    ):
        yield _Function(client, project)


async def _measured(
    asked: Sequence[AnswerQuestion], body: dict[str, Any], runs: int
) -> SettingAnswers:
    """Ask each question so many times; one that gets an error is in no figure."""
    from drift.core.errors import LocalStackError
    from drift.local.evals.answers import SettingAnswers, measure

    measured, in_a_row = SettingAnswers(), 0
    async with _asking(body["project_id"]) as function:
        for number, one in enumerate(asked, 1):
            say(f"{number} of {len(asked)}: {one.text}")
            try:
                answered = [await function.answer({**body, "query": one.text}) for _ in range(runs)]
                facts = [fact for answer in answered for fact in answer["key_facts"]]
                cited = [c["chunk_id"] for fact in facts for c in fact["citations"]]
                names = {id_: _names(await function.chunk(id_)) for id_ in cited}
            except LocalStackError as error:
                measured.failed[one.id] = error.detail
                say(f"{one.id} is in no figure: {error.detail}")
                in_a_row += 1
                if in_a_row == _MOST_FAILED:
                    raise
                continue
            in_a_row = 0
            measured.answers[one.id] = [measure(one, answer, names) for answer in answered]
    return measured


def _names(chunk: dict[str, Any] | None) -> set[str]:
    document = (chunk or {}).get("document") or {}
    return {str(document[name]) for name in ("id", "name") if name in document}


def _settings_of(beside: str | None) -> dict[str, str]:
    """Return the settings of a file; none where what is named is no file, but a project."""
    if beside is None or not Path(beside).is_file():
        options.refuse((beside or "").endswith(".env"), f"{beside} is no file", "--beside")
        return {}

    from dotenv import dotenv_values

    from drift.http import settings

    read, known = dotenv_values(beside, interpolate=False, encoding="utf-8"), settings.names()
    found = {name: value for name, value in read.items() if value and name in known}
    options.refuse(not found, f"{beside} sets no setting", "--beside")
    return found


def _show(document: dict[str, Any]) -> None:
    from rich.table import Table

    figures = document["figures"]
    table = Table(
        "", *figures, title=f"{document['runs']} runs, depth {document['depth']}; percent"
    )
    first = next(iter(figures.values()))
    for name in (name for name in first if name != "failed"):
        values = [one[name] for one in figures.values()]
        if any(value is not None for value in values):
            cells = ("not known" if value is None else f"{value:,}" for value in values)
            table.add_row(name.replace("_", " "), *cells)
    stdout.print(table)
    if ahead := document.get("ahead"):
        low, high = ahead["met_ci95"]
        ours, other = figures
        interval = f"(95 % interval {low:+.1f} to {high:+.1f}, {ahead['questions']} questions)"
        show_line(f"{ours} minus {other}: met {ahead['met']:+.1f} {interval}")
