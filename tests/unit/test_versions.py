"""Chunks of superseded documents stand behind, and are told as such."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drift.answer.references import label_of
from drift.model.graph import Chunk
from drift.model.tree import Citation
from drift.prompting.elements import chunk_element
from drift.search.superseded import newest_first

OLD = Chunk("old", "The rent is 900.", "Lease", 0.9, document_id="lease-v1.md")
OLD = replace(OLD, superseded_by="lease-v2.md", page=3)
NEW = Chunk("new", "The rent is 950.", "Lease", 0.8, document_id="lease-v2.md")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is the rent?", "new"),
        ("What is the rent of 2 rooms?", "new"),
        ("What was the rent in lease v1?", "old"),
        ("What was the rent in version 1?", "old"),
        ("What did the earlier lease say?", "old"),
    ],
)
def test_an_earlier_version_leads_where_it_is_asked_for(question: str, first: str) -> None:
    assert newest_first(question, (OLD, NEW))[0].id == first


def test_an_earlier_version_says_what_supersedes_it() -> None:
    assert 'document="Lease (superseded by lease-v2.md)"' in chunk_element(OLD, "K1")
    assert label_of(Citation("old", "900", "Lease"), OLD) == (
        "Lease, page 3 (superseded by lease-v2.md)"
    )
