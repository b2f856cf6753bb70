"""What the documents say is what the code does.

Settings, routes, commands, links, the example file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from drift.core.errors import DriftError
from drift.http.settings import Settings, load
from drift.local.settings_page import page
from drift.local.stack.keeper import USUAL_PORTS

ROOT = Path(__file__).resolve().parents[1]
HTTP = (ROOT / "docs" / "http.md").read_text()
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLE = json.loads((ROOT / "local.settings.json.example").read_text())["Values"]


def test_the_page_of_settings_is_what_the_settings_say() -> None:
    assert (ROOT / "docs" / "settings.md").read_text() == page(), "run `make settings`"
    assert all(f"| `{name.upper()}` |" in page() for name in Settings.model_fields)
    assert "mode `easyauth` answers 503 unless it is `true`" in page(), "its text, no other's"


def test_the_example_file_is_a_complete_configuration_of_the_local_stack() -> None:
    settings = load({name: value for name, value in EXAMPLE.items() if value})
    assert settings.neo4j_uri == f"bolt://127.0.0.1:{USUAL_PORTS['neo4j']}"
    assert EXAMPLE["REDIS_URL"] == f"redis://127.0.0.1:{USUAL_PORTS['valkey']}"
    assert EXAMPLE["OAI_BASE_URL"] == f"http://127.0.0.1:{USUAL_PORTS['model']}"


def test_the_documents_name_every_code_that_a_caller_can_get() -> None:
    def codes(kind: type[DriftError]) -> set[str]:
        return {kind.code}.union(*(codes(child) for child in kind.__subclasses__()))

    never_answered = {"unusable_reply", "ingest", "local_stack", "vectors_unavailable"}
    never_answered.add("unavailable")  # a client's own
    assert codes(DriftError) - never_answered <= set(re.findall(r"`([a-z_]+)`", HTTP))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()):
        assert target.startswith("https://") or (path.parent / target).exists(), target


def test_what_is_never_deployed_is_left_out_of_the_package() -> None:
    ignored = (ROOT / ".funcignore").read_text().split()
    assert {
        "tests",
        "docs",
        "drift/__main__.py",
        "drift/local",
        "local.settings.json",
    } <= set(ignored)
