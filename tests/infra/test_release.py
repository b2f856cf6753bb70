"""A release is asked whether it works, and the one before is deployed again where it does not.

`curl` is the real one and asks a server of the test; `az`, `azd` and `gh` are stood in for.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from drift.contracts.request import RetrieveRequest
from tests.infra.ways import ROOT

pytestmark = pytest.mark.slow

KEY = "canary-key-5d21"
ANSWER = b"words of a project"
STAND_INS = {
    "az": f'[ "$1 $2 $3" = "functionapp keys list" ] && echo {KEY}',
    "azd": 'echo "$@" >> "$HERE/deployed"; [ "$1" = deploy ]',
    "gh": """case "$*" in
      *environment=production*) cat "$HERE/deployments" ;;
      *deployments/*) case "$*" in *"/$WORKED/"*) echo true ;; *) echo false ;; esac ;;
      "run list "*" --branch v1 "*) echo 71; echo 70 ;;
      "run download 70 "*) [ "$KEPT" = 70 ] && mkdir -p build/before &&
        touch build/before/package.zip ;;
      *) exit 1 ;;
    esac""",
}


@dataclass
class Deployed:
    """A function with a state of each path, first to last: the last one stays."""

    url: str = ""
    states: dict[str, list[int]] = field(default_factory=dict)
    asked: list[tuple[str, str, bytes]] = field(default_factory=list)

    def answer(self, path: str, key: str, body: bytes) -> int:
        self.asked.append((path, key, body))
        states = self.states.get(path, [200])
        return states.pop(0) if len(states) > 1 else states[0]


@pytest.fixture
def deployed() -> Iterator[Deployed]:
    one = Deployed()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            key = self.headers["x-functions-key"] or self.headers["authorization"] or ""
            self.send_response(one.answer(self.path, key, body))
            self.send_header("content-length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        one.url = f"http://127.0.0.1:{server.server_port}"
        yield one
        server.shutdown()


Ran = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, deployed: Deployed) -> Ran:
    """Run a script with these variables beside those of an environment."""
    for name, does in STAND_INS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "deployments").write_text("13 v3\n12 v2\n11 refs/tags/v1\n")

    def run(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        given = {
            "PATH": f"{tmp_path}:/usr/bin:/bin",
            "HERE": str(tmp_path),
            "SERVICE_API_URI": deployed.url,
            "AZURE_RESOURCE_GROUP": "rg",
            "AZURE_FUNCTION_NAME": "func",
            "GITHUB_REPOSITORY": "o/n",
            "WORKED": "11",
            "KEPT": "70",
            **variables,
        }
        done = subprocess.run(  # noqa: S603 - our own words
            ["/bin/sh", str(ROOT / "infra/hooks" / script)],
            capture_output=True,
            text=True,
            check=False,
            env=given,
            cwd=tmp_path,
        )
        assert KEY not in done.stdout + done.stderr
        assert ANSWER.decode() not in done.stdout + done.stderr
        return done

    return run


def test_a_release_that_works_is_asked_three_things_and_a_cold_start_is_waited_for(
    run: Ran, deployed: Deployed
) -> None:
    deployed.states = {"/health/ready": [503, 200]}
    done = run("smoke.sh", SMOKE_PROJECT="handbook")
    assert done.returncode == 0, done.stderr
    paths = [path for path, _, _ in deployed.asked]
    assert paths == ["/health/live", "/health/ready", "/health/ready", "/retrieve"]
    assert {key for _, key, _ in deployed.asked[1:]} == {KEY}
    RetrieveRequest.model_validate(json.loads(deployed.asked[-1][2]), strict=False)


def test_other_callers_need_a_key_and_without_one_only_life_is_asked_for(
    run: Ran, deployed: Deployed
) -> None:
    assert run("smoke.sh", AUTH_MODE="keys", SMOKE_KEY=KEY).returncode == 0
    assert deployed.asked[-1][:2] == ("/health/ready", f"Bearer {KEY}")
    deployed.asked.clear()
    done = run("smoke.sh", AUTH_MODE="easyauth")
    assert (done.returncode, [path for path, _, _ in deployed.asked]) == (0, ["/health/live"])
    assert "SMOKE_KEY is not set" in done.stderr


@pytest.mark.parametrize(
    ("variables", "said", "deploys"),
    [
        ({}, "v1 is deployed again", True),
        ({"SERVICE_API_URI": "http://127.0.0.1:9/", "SMOKE_KEY": "-"}, "nor does v1", True),
        ({"KEPT": "none"}, "the package of v1 is gone", False),
        ({"WORKED": "none"}, "there is none before it", False),
    ],
    ids=["works", "neither-works", "expired", "first"],
)
def test_the_last_release_that_worked_is_deployed_again_and_the_run_fails(
    run: Ran, tmp_path: Path, variables: dict[str, str], said: str, deploys: bool
) -> None:
    if "SERVICE_API_URI" in variables:
        (tmp_path / "curl").write_text("#!/bin/sh\nexit 22\n")
        (tmp_path / "curl").chmod(0o755)
    done = run("go-back.sh", **variables)
    assert done.returncode == 1
    assert said in done.stderr
    log = tmp_path / "deployed"
    package = "deploy api --from-package build/before/package.zip --no-prompt\n"
    assert (log.read_text() if log.exists() else "") == (package if deploys else "")
