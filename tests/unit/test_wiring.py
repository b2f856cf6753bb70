"""From settings to one service an event loop: shared builds, remembered failures, admission."""

import asyncio
import gc
import logging
from collections.abc import Callable
from typing import Any

import pytest

from drift.core.errors import (
    BusyError,
    GraphUnavailableError,
    ModelUnavailableError,
    NotConfiguredError,
)
from drift.http.provider import ServiceProvider
from drift.http.service import Service
from drift.http.settings import Settings, load
from drift.http.wiring import build_models, build_service
from drift.llm.options import STEPS
from drift.model.graph import PrimerEvidence
from drift.model.health import GraphHealth, Index, Readiness
from drift.model.limits import Limits
from drift.redis.embedding_cache import CachedEmbedder, Space
from drift.redis.entries import RedisEntries
from tests.fake_service import LOCAL, fake_service
from tests.fakes import HashingEmbedder, ListSink, ScriptedChat, StubGraph, allowed, ports, request


def reading(*results: Any) -> tuple[Callable[[], Settings], list[int]]:
    """Return a reader of settings that gives these results in turn, and the list of its calls."""
    rest, calls = list(results), []

    def read() -> Settings:
        calls.append(1)
        result = rest.pop(0) if len(rest) > 1 else rest[0]
        if isinstance(result, Exception):
            raise result
        return load(result)

    return read, calls


def service(max_inflight: int = 1, **replies: Any) -> Service:
    chat = ScriptedChat({"hypothesis": "h", **replies})
    servers = ports(StubGraph(PrimerEvidence()), chat)
    return fake_service(servers, ListSink(), MAX_INFLIGHT=max_inflight)


# --------------------------------------------------------------------------------------- the models
@pytest.mark.parametrize(
    ("settings", "is_sent"),
    [
        ({}, False),
        ({"OAI_BASE_URL": "https://api.openai.com"}, True),
        ({"OAI_BASE_URL": "https://one.openai.azure.com", "OAI_API_VERSION": "2024-10-21"}, False),
        ({"OAI_BASE_URL": "https://api.openai.com", "OAI_PROMPT_CACHE": "unsent"}, False),
        ({"OAI_PROMPT_CACHE": "explicit"}, True),
    ],
    ids=str,
)
def test_cache_options_are_sent_where_the_api_is_known_to_have_them(
    settings: dict[str, str], is_sent: bool
) -> None:
    chat, _ = build_models(load({**LOCAL, **settings}))
    assert chat.provider.explicit_cache is is_sent


def test_the_settings_of_the_chat_model_reach_it() -> None:
    given = {
        "OAI_MODEL_SMALL": "small",
        "OAI_REASONING_EFFORT": "primer=medium",
        "MAX_COMPLETION_TOKENS": "aggregation=9000",
        "LLM_TEMPERATURE": "0.5",
    }
    chat, _ = build_models(load({**LOCAL, **given}))
    assert (chat.model, chat.options.small_model, chat.options.temperature) == ("m", "small", 0.5)
    assert [chat.options.effort(step) for step in STEPS] == ["none", "medium", "low", "low"]
    assert [chat.options.length(step, was_cut=True) for step in STEPS] == [4000, 8000, 16_000, 9000]


# ---------------------------------------------------------------------------------------- the cache
def test_searches_have_a_cache_of_the_model_that_the_settings_name() -> None:
    given = {"OAI_EMBED_DEPLOYMENT_NAME": "d"}
    built = build_service(load({**LOCAL, **given}))
    cached = built.ports.embedder
    assert isinstance(cached, CachedEmbedder)
    assert cached.space == Space("http://127.0.0.1:9/v1", "e", "d", 4)
    assert cached.entries.shared is not None
    assert cached.model == built.embedding_model


def test_without_redis_there_is_the_cache_of_the_process_and_with_cache_off_none() -> None:
    without = {name: value for name, value in LOCAL.items() if name != "REDIS_URL"}
    cached = build_service(load(without)).ports.embedder
    assert isinstance(cached, CachedEmbedder)
    assert cached.entries.shared is None
    for off in ("off", "OFF"):
        built = build_service(load({**LOCAL, "CACHE": off}))
        assert built.ports.embedder == built.embedding_model


# ------------------------------------------------------------------------------------- the provider
async def test_concurrent_first_calls_share_one_build_and_later_ones_reuse_it() -> None:
    read, calls = reading(LOCAL)
    provider = ServiceProvider(read)
    built = await asyncio.gather(*(provider.get() for _ in range(5)))
    assert len({id(s) for s in [*built, await provider.get()]}) == 1
    assert len(calls) == 1


async def test_a_first_caller_that_goes_away_does_not_stop_the_build() -> None:
    read, calls = reading(LOCAL)
    provider = ServiceProvider(read)
    first, second = asyncio.create_task(provider.get()), asyncio.create_task(provider.get())
    await asyncio.sleep(0)
    first.cancel()
    assert isinstance(await second, Service)
    assert len(calls) == 1


def test_another_loop_gets_its_own_service() -> None:
    read, calls = reading(LOCAL)
    provider = ServiceProvider(read)
    one, other = asyncio.run(provider.get()), asyncio.run(provider.get())
    assert one is not other
    assert len(calls) == 2
    gc.collect()


def test_a_failure_of_one_loop_is_not_told_in_another() -> None:
    read, _ = reading(NotConfiguredError(("A is not set.",)), LOCAL)
    provider = ServiceProvider(read)
    with pytest.raises(NotConfiguredError):
        asyncio.run(provider.get())
    assert isinstance(asyncio.run(provider.get()), Service)
    gc.collect()


async def test_concurrent_callers_of_a_failed_build_get_one_error_and_it_is_remembered() -> None:
    read, calls = reading(NotConfiguredError(("A is not set.",)), LOCAL)
    provider = ServiceProvider(read)
    outcomes = await asyncio.gather(*(provider.get() for _ in range(3)), return_exceptions=True)
    assert [e.problems for e in outcomes] == [("A is not set.",)] * 3
    with pytest.raises(NotConfiguredError, match="A is not set"):
        await provider.get()
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (RuntimeError("bolt://user:canary@host"), "The clients could not be built (RuntimeError)."),
        (ModelUnavailableError("The model is down."), "The model is down."),
    ],
    ids=["unforeseen", "known"],
)
async def test_any_failure_of_a_build_is_not_configured_and_is_not_kept_for_ever(
    failure: Exception, said: str
) -> None:
    read, calls = reading(failure, LOCAL)
    provider = ServiceProvider(read, rebuild_pause_s=0)
    with pytest.raises(NotConfiguredError) as caught:
        await provider.get()
    assert caught.value.problems == (said,)
    assert isinstance(await provider.get(), Service)
    assert len(calls) == 2


async def test_a_service_has_what_the_settings_say() -> None:
    limits = {
        "MAX_PASSES": "3",
        "MAX_FOLLOWUPS": "4",
        "MAX_CHUNKS_FOR_PROMPT": "6",
        "MAX_FOLLOWUPS_PER_PROMPT": "2",
        "MAX_PROMPT_TOKENS": "5000",
        "HYDE": "never",
        "MAX_INFLIGHT": "7",
        "DEADLINE_SEC": "9",
    }
    read, _ = reading({**LOCAL, **limits})
    built = await ServiceProvider(read).get()
    assert (built.admission.most, built.settings.deadline_sec) == (7, 9)
    assert built._rules[0] == Limits(3, 4, 6, 2, 5000, "never")
    assert built.sink is not None
    read, _ = reading({k: v for k, v in LOCAL.items() if k != "REDIS_URL"})
    assert (await ServiceProvider(read).get()).sink is None


def test_a_search_without_settings_has_the_bounds_that_the_settings_have_by_default() -> None:
    assert load(LOCAL).limits == Limits()


# ---------------------------------------------------------------------------------------- admission
async def test_one_request_too_many_is_busy_and_the_slot_is_free_after_the_answer() -> None:
    shared = service(max_inflight=1)
    first = await shared.start(allowed(), request(), "r1")
    with pytest.raises(BusyError):
        await shared.start(allowed(), request(), "r2")
    assert (await first).no_data_found
    await asyncio.sleep(0)
    assert (await (await shared.start(allowed(), request(), "r3"))).no_data_found


async def test_a_request_that_is_cancelled_before_its_first_step_frees_its_slot() -> None:
    shared = service()
    task = await shared.start(allowed(), request(), "r")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert shared.admission.in_flight == 0


async def test_a_request_cancelled_on_its_way_frees_its_slot_and_ends_its_progress() -> None:
    waiting = asyncio.Event()

    async def hanging() -> None:
        waiting.set()
        await asyncio.Event().wait()

    shared = service(hypothesis=lambda _p: hanging())
    task = await shared.start(allowed(), request(), "r")
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert shared.admission.in_flight == 0
    assert shared.sink.phases[-1] == "error"


@pytest.mark.parametrize("failure", [GraphUnavailableError("gone"), RuntimeError("canary")])
async def test_a_request_that_fails_frees_its_slot_and_publishes_one_error(
    failure: Exception,
) -> None:
    shared = fake_service(ports(StubGraph(failure), ScriptedChat({"hypothesis": "h"})), ListSink())
    with pytest.raises(type(failure)):
        await (await shared.start(allowed(), request(), "r"))
    await asyncio.sleep(0)
    assert shared.admission.in_flight == 0
    assert shared.sink.phases.count("error") == 1
    assert "canary" not in str(shared.sink.messages)


async def test_a_failure_that_nobody_waits_for_makes_no_noise(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shared = fake_service(ports(StubGraph(RuntimeError("x")), ScriptedChat({"hypothesis": "h"})))
    await asyncio.wait([await shared.start(allowed(), request(), "r")])
    gc.collect()
    assert not [r for r in caplog.records if r.name == "asyncio" and r.levelno >= logging.ERROR]


# ------------------------------------------------------------------------------------------- health
class Healthy(StubGraph):
    """A graph with one healthy and one unhealthy index."""

    async def health(self) -> GraphHealth:
        good = Index("good", "vector", dimensions=4)
        bad = Index("bad", "vector", state="POPULATING", dimensions=5)
        return GraphHealth("stub", (good, bad), ("lost",))


class Gone(StubGraph):
    """A graph that cannot be reached."""

    async def health(self) -> GraphHealth:
        raise GraphUnavailableError("The graph cannot be reached.")


def ready(graph: StubGraph, failure: Exception | None = None, sink: Any = None) -> Service:
    servers = ports(graph, ScriptedChat({}), HashingEmbedder(lambda _texts: failure))
    return fake_service(servers, sink)


async def test_every_fault_of_an_index_is_named() -> None:
    readiness = await ready(Healthy(PrimerEvidence())).health.readiness()
    assert readiness["graph"] == readiness["model"] == Readiness.ok()
    assert readiness["indexes"] == Readiness.failing(
        "lost is missing; bad is not online; bad has 5 dimensions, VECTOR_INDEX_DIMENSIONS is 4"
    )


async def test_one_dependency_that_fails_does_not_hide_the_others() -> None:
    readiness = await ready(
        Gone(PrimerEvidence()), ModelUnavailableError("The model is down.")
    ).health.readiness()
    assert readiness["graph"] == Readiness.failing("The graph cannot be reached.")
    assert readiness["model"] == Readiness.failing("The model is down.")
    assert readiness["indexes"] == Readiness.failing("unknown")


class Pinged(ListSink):
    """A sink that knows whether its server answers."""

    def __init__(self, *, answers: bool) -> None:
        super().__init__()
        self.answers = answers

    async def health(self) -> Readiness:
        if self.answers:
            return Readiness.ok()
        return Readiness.failing("nobody listens at its address")


@pytest.mark.parametrize(
    ("sink", "words"),
    [
        (None, "degraded: REDIS_URL is not set, nobody sees progress"),
        (Pinged(answers=False), "degraded: nobody listens at its address, nobody sees progress"),
        (Pinged(answers=True), "ok"),
    ],
)
async def test_redis_is_at_worst_degraded(sink: Any, words: str) -> None:
    redis = (await ready(StubGraph(PrimerEvidence()), sink=sink).health.readiness())["redis"]
    assert redis.serves
    assert str(redis) == words


def test_what_is_kept_in_redis_is_marked_with_a_secret_of_the_service() -> None:
    def secret(**settings: str) -> bytes:
        built = build_service(load({**LOCAL, **settings}))
        assert isinstance(built.ports.embedder, CachedEmbedder)
        entries = built.ports.embedder.entries.shared
        assert isinstance(entries, RedisEntries)
        assert entries._seal.secret
        return entries._seal.secret

    assert secret() == secret(OAI_KEY="other", REDIS_URL="redis://127.0.0.1:8")
    assert secret() != secret(NEO4J_PASSWORD="other")
    assert secret() != b"p"
