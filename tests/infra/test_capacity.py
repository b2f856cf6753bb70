"""What a deployment carries: the doctor, the table of the docs, and a load that people run."""

from __future__ import annotations

import json
import runpy
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from drift.contracts.request import RetrieveRequest
from drift.graph.connection import POOL_SIZE
from drift.local.infra.at_once import THREADS, at_once, table
from tests.infra.rules.files import given
from tests.infra.ways import ROOT


def test_the_table_of_the_docs_is_the_computed_one() -> None:
    assert table() in (ROOT / "docs/scale.md").read_text(), f"put it there:\n{table()}"
    values = dict(given((ROOT / "infra/main.bicepparam").read_text()))
    assert "'8'" in values["httpConcurrency"], "the table counts with eight"


@pytest.mark.parametrize(("concurrency", "state"), [(8, "ok"), (10, "ok"), (11, "note")])
def test_more_requests_than_the_graph_works_on_are_noted(concurrency: int, state: str) -> None:
    found = at_once({"maximumInstanceCount": 40, "httpConcurrency": concurrency})
    assert found.state == state
    assert f"answer {40 * concurrency} requests at once" in found.text
    assert f"up to {40 * POOL_SIZE} connections" in found.text
    assert str(THREADS) in found.text


def test_the_load_asks_what_the_contract_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    locust: Any = ModuleType("locust")
    locust.HttpUser, locust.between = object, lambda *seconds: seconds
    locust.task = lambda _weight: lambda function: function
    monkeypatch.setitem(sys.modules, "locust", locust)
    monkeypatch.setenv("LOAD_PROJECT", "handbook")
    monkeypatch.setenv("LOAD_KEY", "k")

    asked: list[tuple[str, dict[str, Any]]] = []
    asker = runpy.run_path(str(ROOT / "examples/locustfile.py"))["Asker"]()
    asker.client = SimpleNamespace(post=lambda path, **how: asked.append((path, how)))
    for ask in (asker.ask, asker.ask_quickly, asker.find):
        ask()
    assert len({how["name"] for _, how in asked}) == len(asked)
    for path, how in asked:
        assert (path, how["headers"]["x-api-key"]) == ("/retrieve", "k")
        assert RetrieveRequest.model_validate_json(json.dumps(how["json"])).project_id == "handbook"
