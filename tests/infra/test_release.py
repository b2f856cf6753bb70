"""A release is asked whether it works, and the one before is deployed again where it does not.

`curl` is the real one and asks a server of the test; `az`, `azd` and `gh` are stood in for.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from drift.contracts.request import RetrieveRequest
from tests.infra.ways import ROOT

pytestmark = pytest.mark.slow

KEY, ANSWER = "canary-key-5d21", b"words of a project"
STAND_INS = {
    "az": f'[ "$1 $2 $3" = "functionapp keys list" ] && echo {KEY}',
    "azd": 'echo "$@" >> deployed; [ "$1" = deploy ]',
    "gh": """case "$*" in
  *environment=production*) echo "13 v3\n12 v2\n11 refs/tags/v1" ;;
  *deployments/*) case "$*" in *"/$WORKED/"*) echo true ;; *) echo false ;; esac ;;
  "run list "*" --branch v1 "*) echo 71; echo 70 ;;
  *" download $KEPT "*) mkdir -p build/before && touch build/before/package.zip ;;
  *) exit 1 ;; esac""",
}
Ran = Callable[..., subprocess.CompletedProcess[str]]
Asked = list[tuple[str, str | None, bytes]]


@pytest.fixture
def asked() -> Asked:
    """What the function was asked, with which key: it is ready at the second time."""
    return []


@pytest.fixture
def run(tmp_path: Path, asked: Asked) -> Iterator[Ran]:
    """Run a script with these variables beside those of an environment."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_cold = self.path.endswith("ready") and self.path not in [path for path, *_ in asked]
            key = self.headers["x-functions-key"] or self.headers["authorization"]
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            asked.append((self.path, key, body))
            self.send_response(503 if is_cold else 200)
            self.end_headers()
            self.wfile.write(ANSWER)

        do_POST = do_GET  # noqa: N815 - the library's name

    def run(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        given = {"PATH": f"{tmp_path}:/usr/bin:/bin", "WORKED": "11", "KEPT": "70"}
        given |= {"SERVICE_API_URI": url, "GITHUB_REPOSITORY": "o/n"}
        given |= {"AZURE_RESOURCE_GROUP": "rg", "AZURE_FUNCTION_NAME": "f", **variables}
        words = ["/bin/sh", str(ROOT / "infra/hooks" / script)]
        done = subprocess.run(  # noqa: S603 - our own words
            words, capture_output=True, text=True, check=False, env=given, cwd=tmp_path
        )
        assert not any(word in done.stdout + done.stderr for word in (KEY, ANSWER.decode()))
        return done

    for name, does in STAND_INS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        yield run
        server.shutdown()


def test_a_release_that_works_is_asked_three_things_and_a_cold_start_is_waited_for(
    run: Ran, asked: Asked
) -> None:
    assert run("smoke.sh", SMOKE_PROJECT="handbook").returncode == 0
    paths = ["/health/live", "/health/ready", "/health/ready", "/retrieve"]
    assert [path for path, *_ in asked] == paths
    assert {key for _, key, _ in asked[1:]} == {KEY}
    RetrieveRequest.model_validate(json.loads(asked[-1][2]), strict=False)


def test_other_callers_need_a_key_and_without_one_only_life_is_asked_for(
    run: Ran, asked: Asked
) -> None:
    assert run("smoke.sh", AUTH_MODE="keys", SMOKE_KEY=KEY).returncode == 0
    assert asked[-1][:2] == ("/health/ready", f"Bearer {KEY}")
    asked.clear()
    assert "SMOKE_KEY is not set" in run("smoke.sh", AUTH_MODE="easyauth").stderr
    assert [path for path, *_ in asked] == ["/health/live"]


@pytest.mark.parametrize(
    ("variables", "said", "deploys"),
    [
        ({}, "v1 is deployed again", True),
        ({"SERVICE_API_URI": "no-scheme://"}, "nor does v1", True),
        ({"KEPT": "none"}, "the package of v1 is gone", False),
        ({"WORKED": "none"}, "there is none before it", False),
    ],
)
def test_the_last_release_that_worked_is_deployed_again_and_the_run_fails(
    run: Ran, tmp_path: Path, variables: dict[str, str], said: str, deploys: bool
) -> None:
    if "SERVICE_API_URI" in variables:  # the real one would try for minutes
        (tmp_path / "curl").symlink_to("/bin/false")
    done = run("go-back.sh", **variables)
    assert (done.returncode, said in done.stderr) == (1, True)
    log = tmp_path / "deployed"
    package = "deploy api --from-package build/before/package.zip --no-prompt\n"
    assert (log.read_text() if log.exists() else "") == (package if deploys else "")
