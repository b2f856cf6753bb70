"""A child ends with its parent, whatever happens to the parent."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import psutil
import pytest

from drift.core.errors import LocalStackError
from drift.local.stack.children import Child, ending, log_tail
from tests.local.processes import runs, script, until

pytestmark = pytest.mark.slow

SLEEPER = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-c",
    (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('begun', "
        "flush=True); time.sleep(600)"
    ),
]
PARENT = """
import sys, time
from pathlib import Path
from drift.local.stack.children import Child
folder = Path(sys.argv[1])
for name in ("one", "two"):
    (folder / name).mkdir()
    sleeping = [sys.executable, "-c", "import time; time.sleep(600)"]
    child = Child(sleeping, log=folder / "log", cwd=folder, grace_s=1, remove=folder / name)
    print(child.pid, flush=True)
time.sleep(600)
"""


def begun(command: list[str], folder: Path, grace_s: float = 5.0) -> Child:
    child = Child(command, log=folder / "log", cwd=folder, grace_s=grace_s)
    assert until(lambda: "begun" in child.log_text())
    return child


def test_children_and_their_folders_go_when_the_parent_is_killed(tmp_path: Path) -> None:
    with script(PARENT, tmp_path) as parent:
        assert parent.stdout
        pids = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(runs(pid) for pid in pids)
        parent.kill()
        assert until(lambda: not any(runs(pid) for pid in pids))
        assert until(lambda: not (tmp_path / "one").exists() and not (tmp_path / "two").exists())


def test_a_child_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    children: list[Child] = []
    thread = threading.Thread(target=lambda: children.append(begun(SLEEPER, tmp_path)))
    thread.start()
    thread.join()
    assert children[0].exit_status() is None
    assert runs(children[0].pid)
    children[0].stop()
    assert not runs(children[0].pid)


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a process that its parent was killed"
)
def test_a_child_ends_when_its_guard_is_killed(tmp_path: Path) -> None:
    child = begun(SLEEPER, tmp_path)
    psutil.Process(child.pid).parent().kill()
    assert until(lambda: child.exit_status() is not None and not runs(child.pid))


@pytest.mark.parametrize(("grace_s", "kill"), [(0.1, False), (600, True)])
def test_a_child_that_ignores_sigterm_is_killed_after_the_grace_or_at_once(
    tmp_path: Path, grace_s: float, *, kill: bool
) -> None:
    child = begun(STUBBORN, tmp_path, grace_s)
    child.stop(kill=kill)
    assert child.exit_status() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("way", "how"),
    [
        ("raise SystemExit(7)", "exit status 7"),
        ("import os; os.kill(os.getpid(), 9)", "signal SIGKILL"),
    ],
)
def test_how_a_child_ended_by_itself_is_reported(tmp_path: Path, way: str, how: str) -> None:
    command = [sys.executable, "-c", f"print('why', flush=True); {way}"]
    child = Child(command, log=tmp_path / "log", cwd=tmp_path, grace_s=1)
    assert until(lambda: child.exit_status() is not None)
    assert ending(child.exit_status() or 0) == how
    assert child.log_text() == "why\n"


def test_a_child_gets_the_environment_it_is_given_and_its_guard_shows_it_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/what/python/needs")
    command = [
        sys.executable,
        "-c",
        "import os, time; print('begun', os.environ['SECRET'], flush=True); time.sleep(600)",
    ]
    child = Child(command, log=tmp_path / "log", cwd=tmp_path, grace_s=1, env={"SECRET": "canary"})
    assert until(lambda: "begun canary" in child.log_text())
    server, guard = psutil.Process(child.pid), psutil.Process(child.pid).parent()
    assert "canary" not in " ".join(guard.cmdline())
    assert guard.environ()["LD_LIBRARY_PATH"] == "/what/python/needs"
    assert "LD_LIBRARY_PATH" not in server.environ()
    child.stop()


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match="/no/such/program"):
        Child(["/no/such/program"], log=tmp_path / "log", cwd=tmp_path, grace_s=1)


def test_ctrl_c_at_the_terminal_does_not_reach_a_child(tmp_path: Path) -> None:
    child = begun(SLEEPER, tmp_path)
    guard = psutil.Process(child.pid).parent()
    assert len({os.getpgrp(), os.getpgid(guard.pid), os.getpgid(child.pid)}) == 3
    child.stop()


def test_the_end_of_a_log_has_no_java_frames() -> None:
    assert log_tail("first\nError: no\n\tat org.neo4j.Server\n\t... 3 more\n") == "first\nError: no"
    assert log_tail("") == "(it wrote nothing)"
