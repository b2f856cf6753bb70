"""Only the files that a merge changed are looked at: on a real git repository."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import read_changed, read_source
from tests.ingest.fakes import MemoryWriter, comparable, context

Git = Callable[..., bytes]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Return what runs git in a new repository; the process stands there, as a workflow does."""
    monkeypatch.chdir(tmp_path)
    who = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "x")
    mails = dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "x@example.com")

    def run(*given: str) -> bytes:
        command = ["git", *given]
        env = {**os.environ, **who, **mails}
        return subprocess.run(command, check=True, capture_output=True, env=env).stdout  # noqa: S603 - our own words

    run("init", "--quiet")
    return run


def _put(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def _commit(git: Git) -> str:
    git("add", "--all")
    git("commit", "--quiet", "--message", "m")
    return git("rev-parse", "HEAD").decode().strip()


async def _ingest(writer: MemoryWriter, changed: list[Path] | None = None) -> object:
    folder = Path("docs")
    if changed is None:
        source = await asyncio.to_thread(read_source, folder)
    else:
        source = await asyncio.to_thread(read_changed, folder, changed)
    return await ingest(source, "p", context(writer))


async def test_what_a_merge_changed_makes_the_project_what_the_whole_folder_would(git: Git) -> None:
    for name in "abcd":
        _put(f"docs/{name}.md", f"# Page {name}\n\nThe keeper of quay {name} is called Falk.\n")
    _put("docs/sub/deep/e.md", "# Deep\n\nIt lies under the quay.\n")
    before = _commit(git)
    writer, whole = MemoryWriter(), MemoryWriter()
    for one in (writer, whole):
        await _ingest(one)

    _put("docs/a.md", "# Page a\n\nThe keeper is called Berg now.\n")
    _put("docs/new\nline.md", "# New\n\nA name with a line break.\n")
    git("mv", "docs/b.md", "docs/sub/moved.md")
    git("rm", "-r", "--quiet", "docs/sub/deep")
    _put("elsewhere.md", "# Not of the folder\n")
    after = _commit(git)
    names = git("diff", "-z", "--name-only", "--no-renames", before, after).split(b"\0")
    report = await _ingest(writer, [Path(os.fsdecode(name)) for name in names if name])
    await _ingest(whole)

    assert (report.changed, report.added) == (["a.md"], ["new\nline.md"])
    assert (report.moved, report.removed) == (["sub/moved.md"], ["sub/deep/e.md"])
    assert (report.unchanged, [one.reason for one in report.ignored]) == (
        [],
        ["they are outside of the folder"],
    )
    assert comparable(writer.project("p")) == comparable(whole.project("p"))


async def test_files_that_are_hidden_or_of_another_kind_are_not_looked_at(git: Git) -> None:
    _put("docs/a.md", "# Page\n\nThe keeper of the quay is called Falk.\n")
    _commit(git)
    writer = MemoryWriter()
    await _ingest(writer)
    _put("docs/.own/b.md", "# Hidden\n")
    _put("docs/picture.png", "none")
    report = await _ingest(writer, [Path("docs/.own/b.md"), Path("docs/picture.png")])
    assert not report.wrote
    assert [one.kind for one in report.ignored] == [".png"]


def test_the_workflow_runs_the_command_that_is_tested_here() -> None:
    text = (Path(__file__).parents[2] / "examples/index.yml").read_text()
    assert 'git diff -z --name-only --no-renames "$BEFORE" "$AFTER" -- "$DOCUMENTS"' in text
    assert 'drift ingest "$DOCUMENTS" - --changed --project "$PROJECT"' in text


async def test_a_copy_takes_the_place_of_what_it_was_copied_from(git: Git) -> None:
    del git
    falk, berg = (f"# Quay\n\nThe keeper is called {name}.\n" for name in ("Falk", "Berg"))
    _put("docs/a.md", falk)
    writer = MemoryWriter()
    await _ingest(writer)
    _put("docs/b.md", falk)
    await _ingest(writer, [Path("docs/b.md")])
    project = writer.project("p")
    assert project.documents["a.md"].attributes.also_at == ("b.md",)

    _put("docs/a.md", berg)
    await _ingest(writer, [Path("docs/a.md")])
    assert {*project.documents} == {"a.md", "b.md"}
    assert not project.documents["a.md"].attributes.also_at
    _put("docs/b.md", berg)
    await _ingest(writer, [Path("docs/b.md")])
    assert {*project.documents} == {"a.md"}
    os.unlink("docs/a.md")  # noqa: PTH108 - it does not wait
    await _ingest(writer, [Path("docs/a.md")])
    assert {*project.documents} == {"b.md"}
