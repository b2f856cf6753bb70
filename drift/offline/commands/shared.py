"""What the commands do, each as one coroutine: servers first, then the work, then the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from drift.errors import DriftError, IngestError, LocalStackError
from drift.hosting import settings, wiring
from drift.offline.commands.asking import Asked, ask_over_http, remark_on
from drift.offline.commands.console import (
    notes,
    paper,
    print_json,
    remark,
    show_answer,
    show_progress,
)
from drift.offline.commands.sample import sample_sources
from drift.offline.evals.orchestration import measure
from drift.offline.evals.timing import measure_imports, measure_retrievals
from drift.offline.hosts.browser import browsing, open_page
from drift.offline.hosts.local_host import serving
from drift.offline.indexing.pipeline import ingest as run_ingest
from drift.offline.indexing.progress_bar import progress_bar
from drift.offline.indexing.report import STAGES, IngestReport, Report
from drift.offline.indexing.sources import Source, read_source
from drift.offline.servers.model_process import ModelProcess
from drift.offline.servers.neo4j.jars import default_cache
from drift.offline.stack.data_folder import check_data_folder
from drift.offline.stack.stack import VARIABLES, Stack, StackOptions
from drift.offline.wiring import build_writer

LOOPBACK_PASSWORD = "drift-on-loopback-only"  # noqa: S105 - no secret: it stands in local.settings.json.example
SERVE_PORT = 7071
REDIS_INFO_S = 2.0
DEMO_PROJECT = "python-reference"
CHUNKS = STAGES[1]
MAX_KINDS = 8
"""Kinds of ignored files that are named; the rest is counted."""

DEMO_QUESTION = "How are default parameter values evaluated?"


def stack_options(version: str, data_dir: Path, cache_dir: Path | None) -> StackOptions:
    """Return how the local servers are to be started."""
    return StackOptions(
        neo4j_version=version,
        data_dir=data_dir,
        cache_dir=cache_dir,
        neo4j_password=LOOPBACK_PASSWORD,
        given=settings.environment(),
    )


@asynccontextmanager
async def running(options: StackOptions) -> AsyncIterator[tuple[Stack, settings.Settings]]:
    """Have all servers running while the block runs, and their addresses in this process's environment."""
    missing = [name for name, (first, *_) in VARIABLES.items() if not options.given.get(first)]
    if missing:
        check_data_folder(options.data_dir)
        notes.print(
            f"Starting {', '.join(missing)} on this machine, about ten seconds, or joining those "
            f"that run ...",
            markup=False,
        )
    async with Stack(options) as stack:
        settings.export(stack.env)
        yield stack, settings.load()


def recommend_up(stack: Stack) -> None:
    """Say how the next command need not wait, when this one had to."""
    if stack.pids["neo4j"] and not stack.attached:
        notes.print(
            "[dim]The servers end with this command. With `python -m drift up` in another terminal "
            "the next one need "
            "not start them.[/]"
        )


async def up(options: StackOptions, *, browser: bool = False, as_json: bool) -> None:
    """Print the environment of the running servers, and open Neo4j Browser if asked to.

    Runs until it is cancelled.
    """
    async with AsyncExitStack() as ends, running(options) as (stack, values):
        page = await ends.enter_async_context(_browsing(options, values)) if browser else None
        if as_json:
            print_json(
                {"env": stack.env, "pids": stack.pids, **({"browser": page} if page else {})}
            )
        else:
            for name, value in stack.env.items():
                print(f"{name}={value}", flush=True)  # noqa: T201 - the command's output
        if page:
            notes.print(f"Neo4j Browser: {page}", markup=False)
            known = (
                values.neo4j_password.get_secret_value()
                if stack.pids["neo4j"]
                else "that of NEO4J_PASSWORD"
            )
            notes.print(f"  user {values.neo4j_username}, password {known}", markup=False)
            await asyncio.to_thread(open_page, page)
        notes.print("[green]Ready.[/] Ctrl-C ends the servers, once no other command uses them.")
        await stack.wait()


def _browsing(options: StackOptions, values: settings.Settings) -> AbstractAsyncContextManager[str]:
    cache = options.cache_dir or default_cache()
    return browsing(values.neo4j_uri, values.neo4j_username, values.neo4j_database, cache, remark)


async def serve(
    options: StackOptions, port: int | None, allowed: Sequence[str] = (), *, as_json: bool
) -> None:
    """Serve the function's routes, at SERVE_PORT or another when `port` is None.

    Runs until it is cancelled.
    """
    async with running(options) as (stack, values), serving(port, SERVE_PORT, allowed) as url:
        if port is None and not url.endswith(f":{SERVE_PORT}"):
            notes.print(f"Port {SERVE_PORT} is taken: another one is used.")
        if as_json:
            print_json({"env": stack.env, "pids": stack.pids, "url": url})
        await warm_up(values)
        notes.print(f"[green]Ready.[/] The function's routes are at {url}; Ctrl-C ends all of it.")
        notes.print(
            f"""  curl -s {url}/retrieve -H 'content-type: application/json' \\
    -d '{{"query": "{DEMO_QUESTION}", "project_id": "{DEMO_PROJECT}"}}'""",
            markup=False,
        )
        await stack.wait()


async def ask(options: StackOptions, body: dict[str, Any], *, as_json: bool) -> bool:
    """Ask through the function's own route and print the answer; tell whether it is cited.

    Raises:
        LocalStackError: when the function answers with an error, in its words.
    """
    async with running(options) as (stack, values), serving() as url:
        asked = await _ask(url, values, body)
        if as_json:
            print_json(asked.response)
        else:
            show_answer(body["query"], asked.response)
        if said := remark_on(values.oai_model, asked.response):
            remark(said)
        recommend_up(stack)
    return _is_cited(asked.response)


def _is_cited(response: dict[str, Any]) -> bool:
    """Say whether an answer has facts, each of them with evidence.

    What exit code 0 promises to scripts.
    """
    facts = response["key_facts"]
    return bool(facts) and all(isinstance(c, dict) for fact in facts for c in fact["citations"])


async def _ask(url: str, values: settings.Settings, body: dict[str, Any]) -> Asked:
    asked = await ask_over_http(
        url, partial(wiring.build_redis, values), body, show_progress, remark
    )
    if asked.status != 200:  # noqa: PLR2004 - the one good status
        fields = "".join(
            f" {e['field']}: {e['message']}." for e in asked.response.get("errors") or ()
        )
        raise LocalStackError(
            f"{asked.response['code']} (HTTP {asked.status}): {asked.response['detail']}{fields}"
        )
    return asked


async def demo(options: StackOptions, question: str, *, as_json: bool) -> bool:
    """Index the sample corpus and ask about it through the function's own route.

    Tell whether the answer is cited.
    """
    clock = _Stopwatch()
    async with running(options) as (stack, values):
        clock.lap("stack_s")
        await asyncio.gather(ingest_sample(values), warm_up(values))
        clock.lap("ingest_s")
        async with serving() as url:
            notes.print(f"\nAsking POST {url}/retrieve", markup=False)
            asked = await _ask(url, values, {"query": question, "project_id": DEMO_PROJECT})
            clock.lap("retrieve_s")
        servers = await _servers(values, stack)
    if as_json:
        print_json(
            {
                "question": question,
                "response": asked.response,
                "progress": asked.progress,
                "timings": clock.laps,
                "servers": servers,
            }
        )
    else:
        show_answer(question, asked.response)
        seconds = ", ".join(
            f"{name.removesuffix('_s')} {value:.1f} s" for name, value in clock.laps.items()
        )
        notes.print(f"\n[dim]{seconds}; {servers['neo4j']}, {servers['valkey']}[/]")
        notes.print(
            '[dim]Ask your own: make demo Q="..."   Keep the servers: make serve[/]', markup=True
        )
    cited = _is_cited(asked.response)
    if not cited:
        notes.print(
            "[yellow]No answer with evidence was found; the local model only copies sentences.[/]"
        )
    return cited


async def warm_up(values: settings.Settings) -> None:
    """Run the search's statements once.

    A fresh server takes seconds to plan them, and the first question would wait.
    """
    graph = wiring.build_graph(values)
    try:
        await graph.warm_up(values.vector_index_dimensions)
    except DriftError:
        pass  # an empty database has no indexes yet; whoever asks it a question is told
    finally:
        await graph.close()


async def _servers(values: settings.Settings, stack: Stack) -> dict[str, str]:
    """Ask the servers what they are."""
    info = await _redis_info(values)
    version = info.get("valkey_version") or info.get("redis_version")
    graph = wiring.build_graph(values)
    try:
        agent = (await graph.health()).server
    finally:
        await graph.close()
    return {
        "neo4j": agent,
        "valkey": f"{'Valkey' if 'valkey_version' in info else 'Redis'}/{version}"
        if version
        else "none",
        "model": values.oai_model,
        "embedding_model": values.oai_embed_model_name,
        "started_here": ", ".join(name for name, pid in stack.pids.items() if pid) or "none",
    }


async def _redis_info(values: settings.Settings) -> dict[str, Any]:
    """Ask Redis what it is; nothing when there is none, or it does not answer."""
    try:
        server = await asyncio.to_thread(wiring.build_redis, values)
        if server is None:
            return {}
        async with asyncio.timeout(REDIS_INFO_S), server.client() as client:
            await server.signed_in()
            return dict(await client.info("server"))
    except Exception:  # noqa: BLE001 - it only adorns the last line, and progress has said what is wrong
        return {}


@dataclass(frozen=True, slots=True)
class HowToIngest:
    """Whether to write all of it anew, and how long to wait for another run over the project."""

    force: bool = False
    wait_s: float = 600.0


async def ingest(
    options: StackOptions, source: Path | None, project: str, how: HowToIngest, *, as_json: bool
) -> None:
    """Ingest a folder, a file, or without either the sample corpus."""

    def read() -> Source:
        return sample_sources() if source is None else read_source(source)

    documents = read()
    for line in _left_out(documents):
        remark(line)
    async with running(options) as (stack, values):
        report = await _ingest(values, documents, project, how, again=read)
        recommend_up(stack)
    if as_json:
        print_json(
            {
                **asdict(report),
                "wrote": report.wrote,
                "chunks_per_second": round(report.chunks_per_second, 1),
            }
        )


async def ingest_sample(values: settings.Settings) -> None:
    """Have the sample corpus in its project."""
    await _ingest(values, sample_sources(), DEMO_PROJECT)


async def _ingest(
    values: settings.Settings,
    documents: Source,
    project: str,
    how: HowToIngest = HowToIngest(),
    again: Callable[[], Source] | None = None,
) -> IngestReport:
    if values.graph_schema != "default":
        raise IngestError(
            "Ingestion writes the default schema, and GRAPH_SCHEMA names another: leave it out to "
            "ingest."
        )
    writer = build_writer(values)
    _, embedder = wiring.build_models(values)
    last = _LastStage()
    try:
        with progress_bar(notes) as show:
            done = await run_ingest(
                documents,
                project,
                writer,
                embedder,
                values.vector_index_dimensions,
                report=last.then(show),
                embedding_model=values.oai_embed_model_name,
                force=how.force,
                wait_s=how.wait_s,
                tell=remark,
                again=again,
            )
    except asyncio.CancelledError:
        remark(f"Stopped: {last.stored()} The same command continues from there.")
        raise
    finally:
        await writer.close()
    _tell(done)
    return done


class _LastStage:
    """Remembers how far an ingestion came, for whoever stops it."""

    def __init__(self) -> None:
        self._written: tuple[int, int] | None = None

    def then(self, show: Report) -> Report:
        """Return a report that remembers, and passes on what it is told."""

        def report(stage: str, done: int, total: int) -> None:
            if stage == CHUNKS:
                self._written = (done, total)
            show(stage, done, total)

        return report

    def stored(self) -> str:
        """Say what is in the graph."""
        if not self._written or not self._written[0] < self._written[1]:
            return (
                "all documents are stored, their knowledge is not."
                if self._written
                else "nothing was written."
            )
        done, total = self._written
        return f"{done:,} of {total:,} new chunks are stored, and no document is cut in two."


def _left_out(source: Source) -> Iterator[str]:
    """Say what was not read: each skipped file, and how many were ignored for which reason."""
    for skipped in source.skipped:
        yield f"Skipped {skipped.path}: {skipped.reason}."
    reasons: dict[str, list[str]] = {}
    for one in source.ignored:
        reasons.setdefault(one.reason, []).append(f"{one.count:,} {one.kind}")
    for reason, counts in reasons.items():
        more = f" and {len(counts) - MAX_KINDS} other kinds" if len(counts) > MAX_KINDS else ""
        yield f"Ignored {', '.join(counts[:MAX_KINDS])}{more}: {reason}."


def _tell(report: IngestReport) -> None:
    for name in report.kept:
        remark(f"Kept the earlier text of {name}, whose file cannot be read now.")
    if not report.wrote:
        remark(f"Project {report.project_id}: nothing has changed.")
        return
    remark(
        f"Project {report.project_id}: {len(report.added)} documents added, {len(report.changed)} "
        f"changed, "
        f"{len(report.removed)} removed; {report.chunks} chunks written at "
        f"{report.chunks_per_second:.0f} a second; "
        f"{report.entities} entities, {report.relations} relations, "
        f"{sum(report.communities.values())} communities. "
        f"The project holds {report.held_documents} documents and {report.held_chunks} chunks."
    )


async def bench_orchestration(chat_ms: float, embed_ms: float, *, as_json: bool) -> None:
    """Run the search against a model server of fixed latency."""
    with ModelProcess(chat_ms=chat_ms, embed_ms=embed_ms) as server:
        # no database is spoken to: the graph is in memory
        values = settings.load(
            {**server.env, "NEO4J_URI": "bolt://localhost", "NEO4J_PASSWORD": "unused"}
        )
        chat, embedder = wiring.build_models(values)
        result = await measure(chat, embedder, chat_ms / 1000, embed_ms / 1000)
    _print_result(asdict(result), as_json=as_json)


def bench_imports(*, as_json: bool) -> None:
    """Measure the import of the function against that of the streams extension alone."""
    _print_result(asdict(measure_imports()), as_json=as_json)


async def bench_retrieval(options: StackOptions, question: str, *, as_json: bool) -> None:
    """Measure requests to the function's own route on the sample corpus."""
    async with running(options) as (_, values):
        await ingest_sample(values)
        async with serving() as url, httpx2.AsyncClient(timeout=240, trust_env=False) as client:

            async def ask_once() -> None:
                body = {"query": question, "project_id": DEMO_PROJECT}
                (await client.post(f"{url}/retrieve", json=body)).raise_for_status()

            result = await measure_retrievals(ask_once)
    _print_result(asdict(result), as_json=as_json)


def _print_result(result: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        paper.print(f"{name:<18} {value}")


class _Stopwatch:
    """Seconds between laps, and in all."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End a lap."""
        now = time.perf_counter()
        self._laps[name] = round(now - self._last, 2)
        self._last = now

    @property
    def laps(self) -> dict[str, float]:
        """The laps by name, and `total_s` up to the last one."""
        return {**self._laps, "total_s": round(self._last - self._start, 2)}
