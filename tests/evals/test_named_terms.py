"""How many of the terms that people ask about are entities: the list, the match, the density."""

from __future__ import annotations

from pathlib import Path

import pytest

from drift.core.errors import IngestError
from drift.local.evals.named_terms import measure_terms, read_terms, term_figures
from drift.local.ingest.documents import SourceDocument
from drift.local.ingest.sources import Source
from drift.model.records import ChunkRecord, EntityRecord


def test_a_term_is_listed_once_and_may_be_chosen_by_topic(tmp_path: Path) -> None:
    listed = tmp_path / "terms.jsonl"
    listed.write_text(
        '{"topic": "a", "terms": ["La Niña", "Ada"]}\n{"topic": "b", "terms": ["Ada", "Ulm"]}\n',
        encoding="utf-8",
    )
    assert read_terms(listed) == ("La Niña", "Ada", "Ulm")
    assert read_terms(listed, "b") == ("Ada", "Ulm")


@pytest.mark.parametrize("line", ["no json", "[]", '{"question": "?"}', '{"terms": 3}'])
def test_what_is_no_list_of_terms_is_refused(tmp_path: Path, line: str) -> None:
    listed = tmp_path / "terms.jsonl"
    listed.write_text(line, encoding="utf-8")
    with pytest.raises(IngestError, match="holds no list of terms"):
        read_terms(listed)


def test_a_term_is_an_entity_whatever_its_case_and_plural_and_a_part_of_a_title_is_not() -> None:
    entities = [
        EntityRecord("1", "Prime Numbers", "", ("c", "d")),
        EntityRecord("2", "Lucas-Lehmer test", "", ("c",)),
    ]
    chunks = [ChunkRecord(name, "d", 0, "", "x" * 500) for name in "cdef"]
    figures = term_figures(
        ["prime number", "Lucas-Lehmer", "lucas lehmer test"], entities, chunks, 1
    )
    assert figures.missing == ("Lucas-Lehmer",)
    assert figures.density == 1.5
    assert len(figures.sample) == 1


def test_documents_are_read_as_ingestion_reads_them() -> None:
    text = "# Mills\n\nThe old mill of Ada Byron grinds.\n\n# Owners\n\nNobody paid Ada Byron.\n"
    source = Source("s", (SourceDocument("a.md", "Mills", text, "markdown"),))
    figures = measure_terms(source, ["Mill", "windmill"])
    assert figures.missing == ("windmill",)
    assert figures.share == 50
