"""The function inside the library that Azure's Python worker runs on, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from drift.settings import Settings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.version_info < (3, 13), reason="azure-functions-runtime needs Python 3.13"),
]

ROOT = Path(__file__).parents[2]
SUCCESS = 1


@pytest.fixture(scope="module")
def run() -> subprocess.CompletedProcess[str]:
    """The process, ended, without any setting of the function."""
    script = Path(__file__).with_name("runtime_host.py")
    unset = {name.upper() for name in Settings.model_fields}
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(  # noqa: S603 - our own script
        [sys.executable, str(script), str(ROOT)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


@pytest.fixture(scope="module")
def told(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What the worker told and answered."""
    assert run.returncode == 0, run.stderr
    document: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return document


def test_indexing_finds_every_function_with_its_route_methods_and_key(told: dict[str, Any]) -> None:
    found = {
        name: (t["route"], [m.upper() for m in t["methods"]], t["authLevel"].lower())
        for name, t in told["triggers"].items()
    }
    assert found == {
        "retrieve": ("retrieve", ["POST"], "function"),
        "health_live": ("health/live", ["GET"], "anonymous"),
        "health_ready": ("health/ready", ["GET"], "function"),
        "health_neo4j": ("health/neo4j", ["GET"], "function"),
        "openapi": ("openapi.yaml", ["GET"], "function"),
    }


def test_the_worker_offers_its_own_port_for_requests(told: dict[str, Any]) -> None:
    assert told["capabilities"]["HttpUri"].startswith("http://127.0.0.1:")


def test_live_answers(told: dict[str, Any]) -> None:
    assert told["live"] == {"status": 200, "body": "", "invocation": SUCCESS}


def test_a_bad_body_gets_the_contracts_own_error(told: dict[str, Any]) -> None:
    problem = json.loads(told["bad"]["body"])
    assert (told["bad"]["status"], told["bad"]["invocation"], problem["code"]) == (400, SUCCESS, "invalid_request")
    assert {error["field"] for error in problem["errors"]} == {"query", "project_id", "top_k"}


def test_missing_settings_are_named(told: dict[str, Any]) -> None:
    problem = json.loads(told["unset"]["body"])
    assert (told["unset"]["status"], problem["code"]) == (503, "not_configured")
    assert "NEO4J_URI is not set" in problem["detail"]


def test_no_trace_of_an_answered_call_stays(told: dict[str, Any]) -> None:
    assert told["entries_left"] == 0


def test_a_key_in_the_url_is_not_logged(run: subprocess.CompletedProcess[str], told: dict[str, Any]) -> None:
    assert told
    assert "canary-key" not in run.stdout + run.stderr
