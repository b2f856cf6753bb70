"""Whatever came before: a project holds what one made afresh of the same documents would hold.

A machine writes, renames and removes files, ingests a folder and the one inside of it, hands single
documents over, switches them off and on, and moves the project under another name; any write may be
killed at any statement. What a killed one leaves is either of before or of after, and the next
whole one heals it. `drift reindex` is no part of it: the vectors of a model beside the first are
built for all projects of a database at once.
"""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from neo4j import SummaryCounters

from drift.core.deadline import Deadline
from drift.core.errors import (
    ConflictError,
    GraphMisconfiguredError,
    GraphUnavailableError,
    IngestError,
)
from drift.graph.connection import Connection
from drift.graph.indexes import IndexNames
from drift.graph.writing import documents
from drift.indexing import chunking, records
from drift.indexing.indexer import SOURCE, Indexer
from drift.llm.local_embedder import LocalEmbedder
from drift.local.exchange.differences import ProjectDifferences
from drift.local.exchange.transfer import delete_project, export_project, restore_project
from drift.local.ingest import topics
from drift.local.ingest.changes import read_chunks
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.pipeline import ingest, switch
from drift.local.ingest.sources import read_source
from drift.local.stack.neo4j.server import Neo4jServer
from tests.contract.graph_backends import DIMENSIONS, Neo4jBackend, ask_followup, prepare_once
from tests.contract.project_contents import Contents, contents_of, differences, path_of
from tests.contract.test_broken_writes import BrokenConnection

pytestmark = [pytest.mark.neo4j, pytest.mark.deep, pytest.mark.timeout(7200, func_only=True)]

EXAMPLES, STEPS = 8, 20
"""What `make test-deep` runs; `--hypothesis-profile=long` draws as many as that profile says."""
MODEL = "ada"
INNER = "docs/"
NAMES = ("a.md", "b.md", "notes.txt", "list.txt", "moor.py", "quay.py")
PATHS = (*NAMES, *(f"{INNER}{name}" for name in NAMES))
HANDED_OVER = ("a.md", "api.md", "docs/notes.txt")
_CRANE = """# Crane

The crane lifts nine tonnes.

## Rope

The rope of the crane is {}.

## Hook

The hook hangs over the quay.

## Brake

The brake was tested in spring.
"""
PROSE = (
    "# Ferry\n\nThe ferry leaves from https://harbour.example/east at noon.\n",
    "Boats are written down at https://harbour.example/list every day.\n",
    "Boats are written down by hand.\n",
    _CRANE.format("new, see https://harbour.example/east for it"),
    _CRANE.format("old"),
    "# Lamp\n\n## Pier\n\nThe lamp is lit at six.\n\n## Pier\n\nThe lamp is lit at six.\n",
    "Of the pier.\n\n# Lamp\n\nIt leads to [the list](https://harbour.example/list).\n",
)
_MOOR = 'def moor(boat):\n    """Make a boat fast."""\n    return boat\n\n\n'
CODE = (
    f'{_MOOR}def leave(boat):\n    """Let it go."""\n    return moor(boat)\n',
    'def lift(load):\n    """Lift a load off a boat."""\n    return moor(load)\n',
    "def moor(rope):\n    return rope\n",
)
CHUNKS = "MATCH (ch:__Chunk__|__OffChunk__ {project_id: $p, text: $text})"
QUESTIONS = ("When does the ferry leave?", "What is moored?", "Where is the rope of the crane?")

_path = st.sampled_from(PATHS)
_place = st.integers(0, 50)
_killed = st.none() | st.integers(0, 45)
"""The statement at which a write is killed, if it is one that has so many."""


@pytest.fixture
def world(
    neo4j_2026: Neo4jServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[World]:
    """A world in which a few sentences are several chunks, batches, steps and topics."""
    monkeypatch.setattr(chunking, "TARGET_CHARS", 60)
    monkeypatch.setattr(chunking, "MIN_CHARS", 20)
    monkeypatch.setattr(records, "CHUNKS_A_BATCH", 2)
    monkeypatch.setattr(documents, "CHUNKS_AT_ONCE", 3)
    sizes = {"SMALLEST": 2, "LARGEST": 4, "MOST_KEPT": 6, "WANTED": 3, "LEAST_WANTED": 2}
    for name, value in sizes.items():
        monkeypatch.setattr(topics, name, value)
    with asyncio.Runner() as runner:
        made = World(runner, neo4j_2026, tmp_path.resolve())
        yield made
        runner.run(made.connection.close())


class World:
    """What all examples share: the server, and what was made afresh of documents once."""

    def __init__(self, runner: asyncio.Runner, server: Neo4jServer, folder: Path) -> None:
        self.run: Callable[[Awaitable[Any]], Any] = runner.run  # type: ignore[assignment]
        self.folder = folder
        self.connection = Connection(server.uri, server.user, server.password, "neo4j")
        self.backend = Neo4jBackend(self.connection, IndexNames(), server)
        self.run(prepare_once(self.connection))
        self.embedder = LocalEmbedder()
        self.steps = self.compared = 0
        self.chunks_of = cache(self._chunks_of)
        self._afresh: dict[object, tuple[Contents, list[object]]] = {}

    def _chunks_of(self, name: str, content: str) -> tuple[tuple[str, str], ...]:
        """Return the heading and the text of each chunk of a file or a document of this name."""
        file = self.folder / "one" / name.removeprefix(f"{SOURCE}:").rpartition("/")[2]
        shutil.rmtree(file.parent, ignore_errors=True)
        file.parent.mkdir()
        file.write_text(content)
        _, chunks = read_chunks(read_source(file).documents[0], "p", file.name, "", "k")
        return tuple((chunk.heading, chunk.text) for chunk in chunks)

    def new_project(self) -> str:
        return f"model-{uuid.uuid4().hex[:12]}"

    def indexer(self, project: str, connection: Connection, model: str = MODEL) -> Indexer:
        return Indexer(connection, project, self.embedder, model, DIMENSIONS, self.backend.names)

    async def ingest(
        self, project: str, folder: Path, writer: Neo4jWriter, *, force: bool = False
    ) -> None:
        source = read_source(folder, may_be_empty=True)
        await ingest(
            source,
            project,
            IngestContext(writer, self.embedder, DIMENSIONS, model=MODEL),
            force=force,
        )

    async def switch(
        self, ids: list[str], project: str, writer: Neo4jWriter, *, on: bool, model: str = MODEL
    ) -> None:
        await switch(
            ids, project, IngestContext(writer, self.embedder, DIMENSIONS, model=model), on=on
        )

    async def reconcile(self, project: str, connection: Connection, model: str = MODEL) -> None:
        writer = Neo4jWriter(connection, self.backend.names)
        context = IngestContext(writer, self.embedder, DIMENSIONS, model)
        await ProjectDifferences(project, context).found()

    async def answers(self, project: str) -> list[object]:
        """Return the texts that each question finds, with the names of their documents."""
        store, found = self.backend.store(), []
        for question in QUESTIONS:
            vector = (await self.embedder.embed([question], Deadline.after(60))).vectors[0]
            evidence = await ask_followup(store, project, question, vector)
            found.append(sorted((one.document_name, one.text) for one in evidence.chunks))
        return found

    async def afresh(
        self, held: Mapping[str, str], off: frozenset[str]
    ) -> tuple[Contents, list[object]]:
        """Return what a new project of these documents holds, and what its questions find."""
        key = frozenset(held.items()), off
        if key not in self._afresh:
            self._afresh[key] = await self._made(held, off)
        return self._afresh[key]

    async def _made(
        self, held: Mapping[str, str], off: frozenset[str]
    ) -> tuple[Contents, list[object]]:
        project, outer = self.new_project(), self.folder / "afresh" / "proj"
        shutil.rmtree(outer, ignore_errors=True)
        (outer / INNER).mkdir(parents=True)
        index, writer = self.indexer(project, self.connection), self.backend.writer
        for name, content in held.items():
            if name.startswith(f"{SOURCE}:"):
                await index.add(name.removeprefix(f"{SOURCE}:"), content)
            else:
                (outer / name).write_text(content)
        if any(name in PATHS for name in held):
            await self.ingest(project, outer, writer)
        state = await writer.project_state(project)
        places = {id_: path_of(id_, one.source, str(outer)) for id_, one in state.documents.items()}
        if off or not state.fingerprint:
            ids = [id_ for id_, place in places.items() if place in off]
            await self.switch(ids, project, writer, on=False)
        made = await contents_of(self.backend, project, str(outer)), await self.answers(project)
        await delete_project(project, writer, lambda _: None)
        return made


class Killed(BrokenConnection):
    """A connection that breaks, whose reads go on, and what belongs to no project."""

    async def rows(
        self, text: str, parameters: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        return await self._whole.rows(text, parameters)

    async def write_in_batches(self, text: str, parameters: Mapping[str, Any]) -> SummaryCounters:
        return await self._whole.write_in_batches(text, parameters)


class Store(RuleBasedStateMachine):
    """A project, its files, and what it may hold of them: more than one state behind a kill."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.project = world.new_project()
        self.outer = world.folder / self.project / "proj"
        (self.outer / INNER).mkdir(parents=True)
        self.files: dict[str, str] = {}
        self.stored: dict[str, set[str | None]] = {}
        self.off: dict[str, set[bool]] = {}
        self.touched: Counter[str] = Counter()
        self.renamed: dict[str, str] = {}

    def teardown(self) -> None:
        self._unlock()
        self.world.run(delete_project(self.project, self.world.backend.writer, lambda _: None))
        shutil.rmtree(self.outer.parent)

    @initialize(files=st.dictionaries(_path, _place, min_size=2, max_size=5))
    def begin(self, files: dict[str, int]) -> None:
        for path, number in files.items():
            self.write(path, number)

    # ---------------------------------------------------------------------------------------- files
    @rule(path=_path, number=_place)
    def write(self, path: str, number: int) -> None:
        pool = CODE if path.endswith(".py") else PROSE
        text = pool[number % len(pool)]
        if self.files.get(path) != text:
            (self.outer / path).write_text(text)
            self.files[path] = text
            self.touched[path] += 1
        self.world.steps += 1

    @precondition(lambda self: bool(self.files))
    @rule(number=_place)
    def delete(self, number: int) -> None:
        path = self._some(self.files, number)
        (self.outer / path).unlink()
        del self.files[path]
        self.touched[path] += 1
        self.world.steps += 1

    @precondition(lambda self: len(self.files) > 1)
    @rule(one=_place, other=_place)
    def swap(self, one: int, other: int) -> None:
        """Two files exchange their texts."""
        a, b = self._some(self.files, one), self._some(self.files, other)
        if a.endswith(".py") == b.endswith(".py"):
            numbers = [(CODE if p.endswith(".py") else PROSE).index(self.files[p]) for p in (a, b)]
            self.write(a, numbers[1])
            self.write(b, numbers[0])

    @precondition(lambda self: bool(self.files))
    @rule(number=_place, to=_path)
    def rename(self, number: int, to: str) -> None:
        path = self._some(self.files, number)
        self.world.steps += 1
        if to in self.files or path.endswith(".py") != to.endswith(".py"):
            return
        (self.outer / path).rename(self.outer / to)
        self.files[to] = self.files.pop(path)
        self.renamed[to] = path
        self.touched.update((path, to))

    # ---------------------------------------------------------------------------------- the project
    @rule(force=st.sampled_from([False] * 5 + [True]))
    def ingest(self, force: bool) -> None:
        self._ingest(is_inner=False, force=force)

    @rule(killed=_killed)
    def ingest_the_inner_folder(self, killed: int | None) -> None:
        self._ingest(is_inner=True, killed=killed)

    @rule(killed=_killed, force=st.sampled_from([False] * 5 + [True]))
    def ingest_killed(self, killed: int | None, force: bool) -> None:
        self._ingest(is_inner=False, killed=killed, force=force)

    @precondition(lambda self: any(name in self.files for name in self._held()))
    @rule(number=_place, is_chunk=st.booleans())
    def lose(self, number: int, is_chunk: bool) -> None:
        """Lose a chunk of a file, or its vector, and ingest."""
        path = self._some(set(self._held()) & self.files.keys(), number)
        text = self.world.chunks_of(path, next(iter(self.stored[path])))[0][1]
        lost = "DETACH DELETE ch" if is_chunk else "REMOVE ch.embedding"
        about = {"p": self.project, "text": text}
        self.world.run(self.world.connection.write(f"{CHUNKS} WITH ch LIMIT 1 {lost}", about))
        self._ingest(is_inner=False)

    def _ingest(self, *, is_inner: bool, killed: int | None = None, force: bool = False) -> None:
        scope = [path for path in PATHS if not is_inner or path.startswith(INNER)]
        if not any(path in self.files or None not in self._may_hold(path) for path in scope):
            return
        folder = self.outer / INNER if is_inner else self.outer

        async def work(connection: Connection) -> None:
            writer = Neo4jWriter(connection, self.world.backend.names)
            await self.world.ingest(self.project, folder, writer, force=force)

        is_done = self._write(work, killed)
        off = {path: self._off_after(path) for path in scope if path in self.files}
        moved = {self.files[path] for path in scope if path in self.files}
        for path in PATHS:
            was, now = self._may_hold(path), self._may_hold(path)
            if path in scope:
                now = {self.files.get(path)}
                self.off[path] = off.get(path, {False}) | (set() if is_done else self._off(path))
            elif path not in self.files and was & moved:
                now = was | {None}
            self.stored[path] = now if is_done else was | now
        if is_done and not is_inner:
            self.touched.clear()
            self.renamed.clear()
        self._check(is_derived=is_done)

    @rule(id_=st.sampled_from(HANDED_OVER), number=_place, killed=_killed)
    def hand_over(self, id_: str, number: int, killed: int | None) -> None:
        name, text = f"{SOURCE}:{id_}", PROSE[number % len(PROSE)]

        async def work(connection: Connection) -> None:
            await self.world.indexer(self.project, connection).add(id_, text)

        try:
            is_done = self._write(work, killed)
        except ConflictError:
            return
        self.stored[name] = {text} if is_done else self._may_hold(name) | {text}
        self._check()

    @precondition(lambda self: any(name.startswith(SOURCE) for name in self._held()))
    @rule(number=_place, killed=_killed)
    def take_back(self, number: int, killed: int | None) -> None:
        name = self._some([one for one in self._held() if one.startswith(SOURCE)], number)

        async def work(connection: Connection) -> None:
            index = self.world.indexer(self.project, connection)
            await index.remove(name.removeprefix(f"{SOURCE}:"))

        is_done = self._write(work, killed)
        self.stored[name] = {None} if is_done else self._may_hold(name) | {None}
        self.off[name] = {False} if is_done else self._off(name) | {False}
        self._check()

    @precondition(lambda self: bool(self._held()))
    @rule(number=_place, on=st.booleans(), killed=_killed)
    def switch(self, number: int, on: bool, killed: int | None) -> None:
        name = self._some(self._held(), number)

        async def work(connection: Connection) -> None:
            state = await self.world.backend.writer.project_state(self.project)
            places = {
                path_of(id_, one.source, str(self.outer)): id_
                for id_, one in state.documents.items()
            }
            writer = Neo4jWriter(connection, self.world.backend.names)
            await self.world.switch([places[name]], self.project, writer, on=on)

        is_done = self._write(work, killed)
        self.off[name] = {not on} if is_done else self._off(name) | {not on}
        self._check(is_derived=is_done)

    @precondition(lambda self: bool(self._held()))
    @rule(killed=_killed)
    def reconcile(self, killed: int | None) -> None:
        self._write(lambda connection: self.world.reconcile(self.project, connection), killed)
        self._check()
        self._refuse_another_model()

    def _refuse_another_model(self) -> None:
        """No write but one of all documents is done with another model."""
        world, writer = self.world, self.world.backend.writer
        with pytest.raises(IngestError, match=f"vectors of {MODEL}/"):
            world.run(world.switch([], self.project, writer, on=True, model="other"))
        with pytest.raises(IngestError, match=f"vectors of {MODEL}/"):
            world.run(world.reconcile(self.project, world.connection, "other"))
        index = world.indexer(self.project, world.connection, "other")
        with pytest.raises(GraphMisconfiguredError, match=f"made by {MODEL}"):
            world.run(index.add("api.md", PROSE[0]))
        self._check()

    @precondition(lambda self: bool(self._held()))
    @rule(killed=_killed)
    def restore(self, killed: int | None) -> None:
        """Export it, and go on with what is restored under another name."""
        world, folder, new = self.world, self.outer.parent / "export", self.world.new_project()
        world.run(export_project(self.project, folder, world.backend.writer, lambda _: None))

        async def work(connection: Connection) -> None:
            writer = Neo4jWriter(connection, world.backend.names)
            await restore_project(folder, new, writer, DIMENSIONS, lambda _: None)

        old, self.project = self.project, new
        if not self._write(work, killed):
            self._write(work, None)
        world.run(delete_project(old, world.backend.writer, lambda _: None))
        shutil.rmtree(folder)
        self._check()

    # ------------------------------------------------------------------------------------ comparing
    def _some(self, names: Iterable[str], number: int) -> str:
        known = sorted(names)
        return known[number % len(known)]

    def _held(self) -> list[str]:
        return [name for name, may in self.stored.items() if None not in may]

    def _may_hold(self, name: str) -> set[str | None]:
        return self.stored.get(name, {None})

    def _off(self, name: str) -> set[bool]:
        return self.off.get(name, {False})

    def _off_after(self, path: str) -> set[bool]:
        """Return whether a file's document may be off once the file is ingested.

        It stays off whatever is written into it, and when it is renamed, where one can tell.
        """
        if not self.touched[path] or (
            self.touched[path] == 1 and path not in self.renamed and path in self._held()
        ):
            return self._off(path)
        former, text = self.renamed.get(path, ""), self.files[path]
        others = [one for one in PATHS if one not in {path, former}]
        is_known = self.touched[path] == self.touched[former] == 1 and former in self._held()
        if is_known and not any(
            text in self._may_hold(one) or self.files.get(one) == text for one in others
        ):
            return self._off(former)
        return {False} | {True for one in PATHS if True in self._off(one)}

    def _write(self, work: Callable[[Connection], Awaitable[None]], killed: int | None) -> bool:
        """Do the work, and tell whether it was done; it is killed at this statement, if any."""
        self.world.steps += 1
        whole = self.world.connection
        try:
            self.world.run(work(whole if killed is None else Killed(whole, killed)))
        except GraphUnavailableError:
            return False
        finally:
            self._unlock()
        return True

    def _unlock(self) -> None:
        text = "MATCH (p:__Project__ {id: $p}) REMOVE p.writer"
        self.world.run(self.world.connection.write(text, {"p": self.project}))

    def _check(self, *, is_derived: bool = False) -> None:
        world = self.world
        held = world.run(contents_of(world.backend, self.project, str(self.outer)))
        assert held.faults == []
        for name in held.documents.keys() | self.stored.keys():
            may, off = self._may_hold(name), self._off(name)
            if name in held.documents:
                texts = held.texts(name)
                found = {one for one in may if one and world.chunks_of(name, one) == texts}
                assert found, f"{name} holds {texts} instead of {may}"
                assert held.is_off(name) in off, f"{name} is off: {held.is_off(name)}"
                self.stored[name], self.off[name] = {*found}, {held.is_off(name)}
            else:
                assert None in may, f"{name} is gone instead of {may}"
                self.stored[name], self.off[name] = {None}, {False}

        documents = {name: next(iter(self.stored[name])) for name in held.documents}
        assert held.fingerprint or not (is_derived and documents)
        if held.fingerprint and documents:
            off = frozenset(name for name in documents if held.is_off(name))
            new, answers = world.run(world.afresh(documents, off))
            assert differences(held, new) == []
            assert world.run(world.answers(self.project)) == answers
            world.compared += 1


def test_a_project_is_as_one_made_afresh_whatever_came_before(world: World) -> None:
    is_long = settings.get_current_profile_name() == "long"
    run_state_machine_as_test(
        lambda: Store(world),
        settings=settings(
            max_examples=settings.default.max_examples if is_long else EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=not is_long,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],  # a step takes a second
        ),
    )
    assert world.compared > world.steps / 10, "hardly anything was compared"
