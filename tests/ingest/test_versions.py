"""The newest of several versions leads, and says of the others that it supersedes them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from drift.local.ingest.pipeline import ingest
from drift.local.ingest.selection import Selection
from drift.local.ingest.sources import read_changed, read_source
from drift.local.ingest.versions import superseding
from tests.ingest.fakes import MemoryWriter, context

NONE: dict[str, str] = {}


@pytest.mark.parametrize(
    ("paths", "newer"),
    [
        ("contract-v1.md contract-v2.md", {"contract-v1.md": "contract-v2.md"}),
        ("a/Plan_V2.docx a/plan-v10.pdf", {"a/Plan_V2.docx": "a/plan-v10.pdf"}),
        ("plan-v1.9.md plan-v1.10.md", {"plan-v1.9.md": "plan-v1.10.md"}),
        ("rules-rev3.md rules-rev3.pdf", NONE),
        ("a/plan-v1.md b/plan-v2.md", NONE),
        ("v1.md v2.md 2023.md 2024.md", NONE),
        ("minutes-2024-01-15.md minutes-2024-02-15.md", NONE),
        ("release-v1.md release-v2.md parser-v1.py parser-v2.py", NONE),
    ],
)
def test_names_tell_versions(paths: str, newer: dict[str, str]) -> None:
    assert superseding(paths.split(), {}, ()) == newer


def test_a_pattern_makes_dates_versions_and_words_what_they_name() -> None:
    dated = ["fees 2023.md", "fees 2024-03.md", "2024-12-01 fees.md", "fares-2025.md"]
    newest = dict.fromkeys(dated[:2], dated[2])
    assert superseding(dated, {}, dated) == newest
    said = {"fares-2025.md": "fees 2023, old/fares.pdf, gone.md", "old/fares.pdf": "a.md"}
    assert superseding([*dated, "a.md", "old/fares.pdf"], said, ()) == dict.fromkeys(
        ("fees 2023.md", "old/fares.pdf", "a.md"), "fares-2025.md"
    )
    assert superseding(["a", "b"], {"a": "b", "b": "a"}, ()) == {}


async def test_documents_say_what_supersedes_them(tmp_path: Path) -> None:
    texts = {
        "lease-v1.md": "# Lease\n\nThe rent is 900.\n",
        "lease-v2.md": "# Lease\n\nThe rent is 950.\n",
        "old.md": "# House rules\n\nQuiet from nine.\n",
        "new.md": "---\nsupersedes: old\n---\n# House rules\n\nQuiet from ten.\n",
        "fees-2023.md": "# Fees\n\nA key costs 20.\n",
        "fees-2024.md": "# Fees\n\nA key costs 30.\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    writer = MemoryWriter()

    async def newer() -> dict[str, str]:
        chosen = Selection.of((), (), ["fees*"])
        source = await asyncio.to_thread(read_source, tmp_path, selection=chosen)
        await ingest(source, "p", context(writer))
        held = writer.project("p").documents.values()
        return {d.id: new for d in held if (new := d.attributes.superseded_by)}

    first = {"lease-v1.md": "lease-v2.md", "old.md": "new.md", "fees-2023.md": "fees-2024.md"}
    assert await newer() == first
    (tmp_path / "lease-v3.md").write_text("# Lease\n\nThe rent is 999.\n")
    changed = await asyncio.to_thread(read_changed, tmp_path, [tmp_path / "lease-v3.md"])
    report = await ingest(changed, "p", context(writer))
    assert (report.added, report.changed) == (["lease-v3.md"], ["lease-v1.md", "lease-v2.md"])
    for name in ("lease-v2.md", "lease-v3.md"):
        (tmp_path / name).unlink()
    (tmp_path / "new.md").write_text(texts["new.md"].replace("supersedes", "follows"))
    assert await newer() == {"fees-2023.md": "fees-2024.md"}
    await writer.switch("p", ["fees-2024.md"], on=False)
    assert await newer() == {}


async def test_a_run_over_what_changed_knows_what_documents_say_of_each_other(
    tmp_path: Path,
) -> None:
    rules, other = "# House rules\n\nQuiet from nine.\n", "# Fares\n\nA ferry costs 5.\n"
    (tmp_path / "old").mkdir()

    def put(name: str, text: str, said: str = "") -> Path:
        (tmp_path / name).write_text(f"---\nsupersedes: {said}\n---\n{text}" if said else text)
        return tmp_path / name

    put("old/rules.md", rules)
    put("draft.md", rules + "Draft.\n", "old/rules")
    new = put("rules.md", rules + "Signed.\n", "draft.md, gone.md")
    put("fares.md", other)
    writer = MemoryWriter()
    await ingest(await asyncio.to_thread(read_source, tmp_path), "p", context(writer))
    held = writer.project("p").documents

    async def newer(changed: Path) -> list[str]:
        source = await asyncio.to_thread(read_changed, tmp_path, [changed])
        report = await ingest(source, "p", context(writer))
        assert "fares.md" not in {*report.unchanged, *report.changed}
        return [held[one].attributes.superseded_by for one in ("old/rules.md", "draft.md")]

    assert await newer(put("old/rules.md", rules + "Shut at ten.\n")) == ["rules.md"] * 2
    assert await newer(put("draft.md", rules + "Draft 2.\n", "old/rules")) == ["rules.md"] * 2
    new.unlink()
    assert await newer(new) == ["draft.md", ""]
    assert await newer(put("draft.md", rules)) == ["", ""]
    beside = put("draft.md.meta.json", '{"metadata": {"supersedes": "old/rules.md"}}')
    assert await newer(beside) == ["draft.md", ""]
