"""Stages on workers: the same records, a dead worker's batch once more, one limit for all."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import dask
import pytest
from distributed import LocalCluster
from pydantic import SecretStr

from drift.core.deadline import Deadline
from drift.core.errors import IngestError
from drift.http.settings import Settings, load
from drift.indexing.documents import Skipped, SourceDocument
from drift.local.cli.placing import ModelsOf
from drift.local.ingest import scheduling
from drift.local.ingest.by_model.asking import Asked
from drift.local.ingest.context import IngestContext
from drift.local.ingest.files import SourceFile
from drift.local.ingest.pacing import Pace, Paced
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.scheduling import FILES_A_BATCH, read_all, workers
from drift.local.ingest.sources import read_source
from drift.model.calls import ChatReply, Prompt, Tokens
from tests.ingest.fakes import DIMENSIONS, HashEmbedder, MemoryWriter, context

SECONDS = 60.0


class Clock:
    """A chat model whose reply is when it was asked, by the clock of the whole machine."""

    async def complete(self, prompt: Prompt, deadline: Deadline) -> ChatReply:
        assert deadline.remaining() > SECONDS / 2
        return ChatReply(str(time.monotonic()), Tokens(prompt=len(prompt.user)))


def models() -> tuple[Asked, HashEmbedder]:
    return Clock(), HashEmbedder()


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
    ):
        yield cluster.scheduler_address


def _files(folder: Path, number: int) -> list[SourceFile]:
    for n in range(number):
        (folder / f"{n:02}.md").write_text(f"# Part {n}\n\n" + f"Sentence of part {n}.\n\n" * 90)
    return list(read_source(folder).documents)


async def test_workers_make_the_very_same_graph(scheduler: str, tmp_path: Path) -> None:
    _files(tmp_path, 2 * FILES_A_BATCH + 1)
    (tmp_path / "wrong.md").write_bytes(b"\0")
    (tmp_path / "gone.md").write_text("Here when it was looked at.")
    source = await asyncio.to_thread(read_source, tmp_path)
    (tmp_path / "gone.md").unlink()
    here, there = MemoryWriter(), MemoryWriter()
    alone = await ingest(source, "p", context(here))
    async with workers(scheduler, models) as both:
        shared = await ingest(source, "p", IngestContext(there, both, DIMENSIONS, stages=both))

    assert there.project("p") == here.project("p")
    assert replace(shared, seconds={}) == replace(alone, seconds={})
    assert [one.path for one in shared.skipped] == ["gone.md", "wrong.md"]
    assert len(shared.added) == 2 * FILES_A_BATCH + 1


async def test_a_worker_is_told_no_secret_but_the_keys_of_models() -> None:
    secrets = [
        name
        for name, field in Settings.model_fields.items()
        if "SecretStr" in str(field.annotation)
    ]
    assert "milvus_token" in secrets
    values = load(
        {
            "NEO4J_URI": "bolt://127.0.0.1:1",
            "OAI_BASE_URL": "http://127.0.0.1:1",
            "OAI_MODEL": "m",
            "OAI_EMBED_MODEL_NAME": "e",
            "VECTOR_INDEX_DIMENSIONS": "8",
            "NEO4J_PASSWORD": "none",
        }
    ).model_copy(update={name: SecretStr(f"canary of {name}.") for name in secrets})
    make = pickle.loads(pickle.dumps(ModelsOf(values)))  # noqa: S301 - our own
    chat, _ = await asyncio.to_thread(make)
    await chat.aclose()
    sent = pickle.dumps(make).decode(errors="replace")
    told = {name for name in secrets if f"canary of {name}." in sent}
    assert told == {"oai_key", "anthropic_key"}
    assert "bolt://" not in sent


async def test_a_limit_is_one_of_all_workers(scheduler: str) -> None:
    calls = 12
    async with workers(scheduler, models) as both:
        paced = Paced(both, both, Pace(a_minute=1200), Pace())
        asked = Prompt("reply", "", "When?")
        replies = await asyncio.gather(
            *(paced.complete(asked, Deadline.after(SECONDS)) for _ in range(calls))
        )

    times = sorted(float(reply.text) for reply in replies)
    assert times[-1] - times[0] > (calls - 2) * 0.04


def test_what_a_model_counts_beyond_what_was_guessed_is_within_the_limit_too() -> None:
    pace = Pace(a_minute=60)
    first = pace.begin(10)
    pace.begin(5)
    assert pace.begin(1) == pytest.approx(first + 15)


@pytest.mark.deep
async def test_a_worker_that_dies_costs_the_batch_that_it_was_at_once(
    scheduler: str, tmp_path: Path
) -> None:
    files = await asyncio.to_thread(_files, tmp_path, 3 * FILES_A_BATCH)
    log = tmp_path / "log"
    works = [(file, partial(_dies, log, ("00.md",), 1)) for file in files]
    async with workers(scheduler, models) as both:
        made = [one async for one in read_all(both, works)]

    assert made == [file.id for file in files]
    # What the worker had done and not yet handed over is done once more too.
    times = Counter(log.read_text().split())
    assert times["00.md"] == 2
    assert set(times) == set(made)
    assert max(times.values()) == 2


@pytest.mark.deep
async def test_a_batch_that_no_worker_survives_is_skipped_by_name(
    scheduler: str, tmp_path: Path
) -> None:
    files = await asyncio.to_thread(_files, tmp_path, 2)
    works = [(file, partial(_dies, tmp_path / "log", ("01.md",), 9)) for file in files]
    async with workers(scheduler, models) as both:
        made = [one async for one in read_all(both, works)]

    reason = "ended every worker that was given it"
    assert made == [Skipped(name, reason, unreadable=True) for name in ("00.md", "01.md")]


def _dies(
    log: Path, fatal: Sequence[str], times: int, document: SourceFile | SourceDocument
) -> str:
    """Return the file's name, and end the worker so many times where it is a fatal one."""
    with log.open("a") as file:
        file.write(f"{document.id}\n")
    if document.id in fatal and log.read_text().split().count(document.id) <= times:
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(1)
    return document.id


async def test_an_address_at_which_nobody_answers_is_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduling, "CONNECT_S", 0.2)
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        with pytest.raises(IngestError, match=f"No scheduler answers at {address}. Start one with"):
            async with workers(address, models):
                pass
