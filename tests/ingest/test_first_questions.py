from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from drift.graph.writing.records import (
    ChunkDefinitions,
    ChunkRecord,
    CommunityRecord,
    Definition,
)
from drift.local.ingest.first_questions import first_questions
from drift.local.ingest.headings import telling
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import read_source
from drift.model.graph import Vector
from tests.ingest.fakes import MemoryWriter, context


def _asked(*chunks: ChunkRecord, facts: tuple[ChunkDefinitions, ...] = ()) -> list[str]:
    topic = CommunityRecord(1, 0, None, "t", "s", chunk_ids=tuple(one.id for one in chunks))
    return [text for _, text in first_questions([topic], {c.id: c for c in chunks}, facts)]


def _chunk(text: str, heading: str, path: str = "a.md") -> ChunkRecord:
    return ChunkRecord("k", path, 0, heading, f"# {heading}\n\n{text}", title="Harbour")


TEXTS = {
    "Seals": (
        "A rotary seal is a ring that keeps the oil of a shaft inside. A rotary seal is of rubber.",
        ["What is a rotary seal?"],
    ),
    "The Pilot Service": (
        "The Pilot Service guides every ship that is longer than ninety metres to the quay.",
        ["What does the Pilot Service do?", "What is “The Pilot Service” about?"],
    ),
    "Lotsendienst": (
        "Der Lotsendienst begleitet das Schiff. Ein Lotse ist eine Person, und der Lotse ist frei.",
        ["Was ist ein Lotse?", "Was macht der Lotsendienst?"],
    ),
    "When does the ferry leave?": (
        "The ferry is to leave at noon, and in winter it does not leave at all.",
        ["When does the ferry leave?"],
    ),
    "How to book a berth": (
        "To book a berth, write to the office of the harbour two days before you arrive.",
        ["How do I book a berth?"],
    ),
    "Le phare de Vik": (
        "Le phare de Vik donne un signal toutes les trente secondes pendant la nuit.",
        ["Le phare de Vik?"],
    ),
    "Sign in": ("The reason is a mystery. Sign in to see the rest of the page and more.", []),
    "Release 2.1.0": ("This is a release of the package, and it is the last one of all.", []),
}


@pytest.mark.parametrize("heading", TEXTS)
def test_a_text_is_asked_for_what_it_defines_and_is_headed_by(heading: str) -> None:
    text, questions = TEXTS[heading]
    assert _asked(_chunk(text, heading)) == questions


@pytest.mark.parametrize(
    ("path", "title", "questions"),
    [
        ("net/wire.py", "WireFrame", ["What is WireFrame?"]),
        ("net/wire.py", "_WireFrame", []),
        ("tests/test_wire.py", "WireFrame", []),
    ],
)
def test_code_is_asked_for_its_public_names_and_tests_for_none(
    path: str, title: str, questions: list[str]
) -> None:
    doc = "class Wire – A wire that carries one frame at a time."
    facts = ChunkDefinitions("k", (Definition("Symbol", title, "class", doc),), (title,))
    users = [ChunkDefinitions(f"u{n}", (), (title,)) for n in range(2)]
    chunk = _chunk("class WireFrame: ...", title, path)
    assert _asked(chunk, facts=(facts, *users)) == questions
    assert not _asked(chunk, facts=(facts,))


@pytest.mark.parametrize(
    ("heading", "told"),
    [
        ("1.11 The AKS primality test", "The AKS primality test"),
        ("What is new in Python 3.12 for users", "What is new in Python 3.12 for users"),
        ("TLS 1.3 handshake", "TLS 1.3 handshake"),
        ("Matrix (Unix) tools", "Matrix (Unix) tools"),
        ("x" * 100_000, ""),
    ],
    ids=range(5),
)
def test_a_heading_loses_its_own_number_alone(heading: str, told: str) -> None:
    assert telling(heading) == told


@pytest.mark.parametrize(
    "heading",
    ["Menu", "Table of contents", "Sign in", "f(x) = y", "<b>Home</b>", "https://a.example", "■r"],
)
def test_headings_of_menus_and_markup_tell_nothing(heading: str) -> None:
    assert not telling(heading)
    assert telling(f"3.2 **{heading}**") == ""
    assert telling("3.2 **Rotary seals**") == "Rotary seals"


class _Losing(MemoryWriter):
    """A graph in which a search finds no passage about seals."""

    async def first_found(
        self, project_id: str, asked: Sequence[str], vectors: Sequence[Vector]
    ) -> list[list[str]]:
        found = await super().first_found(project_id, asked, vectors)
        return [[] if "seal" in one else ids for one, ids in zip(asked, found, strict=True)]


async def test_a_question_is_kept_while_its_passage_is_there_and_found(tmp_path: Path) -> None:
    seal, pump = tmp_path / "seal.md", tmp_path / "pump.md"
    seal.write_text(f"# Seals\n\n{TEXTS['Seals'][0]}\n")
    pump.write_text(
        "# Pumps\n\nA bilge pump is a device to move the water. Each bilge pump is of steel.\n"
    )
    graph = _Losing()

    async def questions() -> list[str]:
        await ingest(read_source(tmp_path), "p", context(graph))
        held = graph.project("p")
        kept = [one.split("\n") for one in held.knowledge.questions]
        assert {chunk_id for chunk_id, _ in kept} <= held.seen().keys()
        return [text for _, text in kept]

    assert await questions() == ["What is a bilge pump?"]
    seal.write_text(
        "# Seals\n\nA shaft ring is a band with a lip of rubber. The shaft ring is of steel.\n"
    )
    assert await questions() == ["What is a bilge pump?", "What is a shaft ring?"]
    pump.write_text(
        "# Bilge pumps\n\nNothing is told here any more of what was in the hull before.\n"
    )
    assert await questions() == ["What is a shaft ring?"]
