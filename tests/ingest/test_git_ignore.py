"""What Git ignores is not read, wherever Git is told so, and however."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from drift.local.ingest.git_ignore import BY_PATTERNS
from drift.local.ingest.sources import read_changed, read_source

GOOD = b"# Good\n\nSome text.\n"


def test_what_git_ignores_is_left_out_and_counted(tmp_path: Path) -> None:
    for name in ("kept.md", "made/a.md", "sub/b.md", "sub/deep/c.md", "sub/kept.tmp.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(GOOD)
    (tmp_path / ".gitignore").write_text("# made\n/made/\n*.tmp.md\n")
    (tmp_path / "sub" / ".gitignore").write_text("b.md\n!kept.tmp.md\n")

    source = read_source(tmp_path)
    assert [one.id for one in source.documents] == ["kept.md", "sub/deep/c.md", "sub/kept.tmp.md"]
    reasons = {(one.kind, one.reason) for one in source.ignored}
    assert reasons >= {("folder", BY_PATTERNS), (".md", BY_PATTERNS)}

    changed = [tmp_path / name for name in ("made/a.md", "sub/b.md", "sub/deep/c.md")]
    assert [one.id for one in read_changed(tmp_path, changed).documents] == ["sub/deep/c.md"]


HIDING = b"secret.md\nother.md\n"


@pytest.mark.parametrize(
    "rules",
    [
        codecs.BOM_UTF8 + HIDING,
        HIDING.decode().encode("utf-16"),
        HIDING.replace(b"\n", b"  \r\n"),
        b"caf\xe9.md\n" + HIDING,
        b"!\nends with\\\n" + HIDING,
        b"*\n!*/\n!kept.md\n",
        b"sub/**\n!sub/kept.md\n!sub/secret.md\nsub/**/secret.md\n",
        b"**/*.md\n!/sub/**/\n!**/kept.md\n",
    ],
)
def test_rules_leave_out_what_git_does_however_they_are_written(
    tmp_path: Path, rules: bytes
) -> None:
    for name in ("kept.md", "secret.md", "other.md"):
        (tmp_path / "sub").mkdir(exist_ok=True)
        (tmp_path / "sub" / name).write_bytes(GOOD)
    (tmp_path / ".gitignore").write_bytes(rules)
    assert [one.id for one in read_source(tmp_path).documents] == ["sub/kept.md"]


def test_rules_above_the_folder_and_those_of_the_repository_count(tmp_path: Path) -> None:
    kept, module, folder = tmp_path / "kept", tmp_path / "module", tmp_path / "work" / "docs"
    for name in ("a.md", "above.md", "module.md", "excluded.md", "sub/module.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(GOOD)
    # Of a worktree, whose rules stand in its repository; and a submodule in it.
    for place, rules in ((kept, "excluded.md"), (module, "sub/module.md\nmodule.md")):
        (place / "info").mkdir(parents=True)
        (place / "info" / "exclude").write_text(rules)
    (kept / "worktrees" / "work").mkdir(parents=True)
    (kept / "worktrees" / "work" / "commondir").write_text("../..\n")
    (folder.parent / ".git").write_text("gitdir: ../kept/worktrees/work\n")
    (folder / "sub" / ".git").write_text(f"gitdir: {module}\n")
    (folder.parent / ".gitignore").write_text("/docs/above.md\n/a.md\n")
    (tmp_path / ".gitignore").write_text("*.md\n")  # of no repository

    assert [one.id for one in read_source(folder).documents] == ["a.md", "module.md"]
    changed = [folder / name for name in ("above.md", "excluded.md", "sub/module.md", "a.md")]
    assert [one.id for one in read_changed(folder, changed).documents] == ["a.md"]


def test_a_folder_that_is_ignored_itself_is_read_where_it_is_named(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "build" / "docs"
    folder.mkdir(parents=True)
    for name in ("a.md", "secret.md"):
        (folder / name).write_bytes(GOOD)
    for rules in ("build/\nsecret.md\n", "/build/docs\nsecret.md\n", "*\n!build\nsecret.md\n"):
        (tmp_path / ".gitignore").write_text(rules)
        assert [one.id for one in read_source(folder).documents] == ["a.md"]


def test_rules_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "good.md").write_bytes(GOOD)
    (tmp_path / "docs" / ".gitignore").write_bytes(b"!\n")
    (tmp_path / ".gitignore").write_bytes(b"\0")
    told = {one.path: one.reason for one in read_source(tmp_path / "docs").skipped}
    assert told.keys() == {".gitignore", str(tmp_path / ".gitignore")}
    assert "line 1 cannot be understood" in told[".gitignore"]
    assert "leaves out nothing" in told[str(tmp_path / ".gitignore")]
