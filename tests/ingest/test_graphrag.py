"""The output of Microsoft GraphRAG becomes a project, or one sentence says why it does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import IngestError
from drift.indexing.documents import SourceDocument
from drift.indexing.reading_process import ReadingProcess
from drift.local.ingest.graphrag.importing import import_index
from drift.local.ingest.graphrag.index import read_index
from drift.local.ingest.graphrag.placing import MOST_SEARCHES, placed
from drift.local.ingest.graphrag.vectors import KINDS
from drift.local.ingest.pipeline import ingest, remove, switch
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import Source
from tests.ingest.fakes import DIMENSIONS, HashEmbedder, MemoryWriter, Project, context
from tests.ingest.graphrag_tables import BAKERY, MILL, Tables, tables, write


async def imported(
    folder: Path, writer: MemoryWriter, said: list[str] | None = None
) -> IngestReport:
    say = (said if said is not None else []).append
    return await import_index(
        read_index(folder),
        "p",
        context(writer, model="m", say=say),
    )


async def project_of(folder: Path) -> Project:
    writer = MemoryWriter()
    await imported(folder, writer)
    return writer.project("p")


# ------------------------------------------------------------------------------------------ reading
@pytest.mark.parametrize("prefix", ["", "create_final_"])
async def test_an_index_is_taken_as_it_is_with_what_leads_nowhere_named(
    tmp_path: Path, prefix: str
) -> None:
    index = tables()
    if prefix:  # as GraphRAG 1 and 2 name the documents of a text
        for row in index["text_units"]:
            row["document_ids"] = ["gone", row.pop("document_id")]
    write(tmp_path / "output [1]", index, prefix)
    writer = MemoryWriter()

    report = await imported(tmp_path / "output [1]", writer)

    project = writer.project("p")
    assert {one.id: one.title for one in project.documents.values()} == {
        "d1": "valley.txt",
        "d2": "ferry.md",
    }
    first, second = project.chunks["d1"]
    assert (first.id, first.start, first.text) == ("t1", 0, MILL)
    assert (second.id, second.start, second.text) == ("t2", len(MILL), BAKERY)
    communities = {one.community: one for one in project.knowledge.communities}
    assert [(c.level, c.published_level, c.parent) for c in communities.values()] == [
        (1, 0, None),
        (0, 0, None),
        (0, 1, 0),
        (0, 1, 0),
    ]
    members = {key: (one.entity_ids, one.chunk_ids) for key, one in communities.items()}
    assert members[0] == ((), ("t2",))  # what no community below it has
    assert members[2] == (("e1", "e2"), ("t1",))
    assert [bool(one.embedding) for one in communities.values()] == [True, True, True, False]
    assert [one.chunk_id for one in project.knowledge.relations] == ["t1", "t2"]
    assert set(report.notes) == {
        f"{prefix}{name}.parquet" for name in ("entities", "relationships", "communities")
    }
    assert "INES MOOR -> FERRYMEN" in report.notes[f"{prefix}relationships.parquet"]


async def test_a_text_with_what_was_put_before_it_stands_where_it_was_cut() -> None:
    document = "".join(f"Sentence {n} of a long text.\n" for n in range(200))
    cuts = [document[start : start + 400] for start in range(0, len(document), 300)]
    told = [f"title: a.txt.\nauthor: Moor.\n{cut}\ufffd" for cut in cuts]
    found = list(placed([*told, "elsewhere"], document))
    assert found[:-1] == [(cut, 300 * number) for number, cut in enumerate(cuts)]
    assert found[-1] == ("elsewhere", None)

    halves = [cut if number % 2 else f"#{cut}" for number, cut in enumerate(cuts * 3)]
    starts = [start for _, start in placed(halves[:30], document * 3)]
    assert [start is None for start in starts] == [number % 2 == 0 for number in range(len(starts))]

    strangers = ["Not there."] * MOST_SEARCHES
    assert list(placed([*strangers, document[5000:5100]], document))[-1][1] is None


@pytest.mark.parametrize("how", ["ours", "another model's", "of another length"])
async def test_vectors_are_taken_where_our_model_made_them(tmp_path: Path, how: str) -> None:
    folder = write(tmp_path, tables())
    texts = read_index(folder).texts
    given = {}
    names = ("text_unit.text", "entity.description", "community.full_content")
    for kind, name in zip(KINDS, names, strict=True):
        made = await HashEmbedder().embed(list(texts[kind].values()), Deadline.after(9))
        vectors = {
            "ours": [[2 * x for x in vector] for vector in made.vectors],
            "another model's": [list(reversed(vector)) for vector in made.vectors],
            "of another length": [[*vector, 1.0] for vector in made.vectors],
        }[how]
        rows = [
            {"id": id_, "embedding": vector}
            for id_, vector in zip(texts[kind], vectors, strict=True)
        ]
        given[f"embeddings.{name}"] = rows
    write(folder, given)

    said: list[str] = []
    writer = MemoryWriter()
    await imported(folder, writer, said)

    stored = next(one for one in writer.project("p").chunks["d1"] if one.id == "t2")
    theirs = given["embeddings.text_unit.text"][0]["embedding"]
    assert (stored.embedding == pytest.approx(theirs)) == (how == "ours")
    reason = {"of another length": f"have {DIMENSIONS + 1} floats"}.get(how, how)
    assert [reason in line for line in said] == ([] if how == "ours" else [True] * 3)


# ------------------------------------------------------------------------------------- second runs
async def test_the_same_index_again_writes_nothing_and_another_one_takes_its_place(
    tmp_path: Path,
) -> None:
    writer = MemoryWriter()
    folder = write(tmp_path / "one", tables())
    assert (await imported(folder, writer)).added == ["d1", "d2"]
    before = list(writer.writes)
    again = await imported(folder, writer)
    assert (again.unchanged, again.wrote) == (["d1", "d2"], False)
    assert writer.writes == before

    other = tables()
    del other["documents"][1], other["text_units"][2], other["entities"][3]
    await imported(write(tmp_path / "two", other), writer)
    assert set(writer.project("p").documents) == {"d1"}
    assert len(writer.project("p").knowledge.entities) == 3
    clean = await project_of(tmp_path / "two")
    assert writer.project("p").knowledge == clean.knowledge


async def test_an_imported_graph_and_our_own_are_kept_apart(tmp_path: Path) -> None:
    folder = write(tmp_path, tables())
    own = Source("/docs", (SourceDocument("a.md", "A", "# A\n\nText of ours.\n", "markdown"),))
    writer = MemoryWriter()
    await imported(folder, writer)
    before = list(writer.writes)
    asked = ("p", context(writer, model="m"))
    with pytest.raises(IngestError, match="holds the graph that GraphRAG made of"):
        await ingest(own, *asked)
    with pytest.raises(IngestError, match="holds the graph that GraphRAG made of"):
        await switch(["d1"], *asked, on=False)
    await switch([], *asked, on=True)  # nothing is behind
    assert writer.writes == before

    await remove(f"graphrag:{folder.resolve()}", *asked)
    assert not writer.project("p").documents
    await ingest(own, *asked)
    with pytest.raises(IngestError, match="holds documents of /docs"):
        await imported(folder, writer)


# ---------------------------------------------------------------------------------------- bad input
def _no_column(index: Tables) -> None:
    for row in index["communities"]:
        del row["parent"]


def _no_text(index: Tables) -> None:
    index["text_units"] = []


def _no_table(index: Tables) -> None:
    del index["relationships"]


def _twice(index: Tables) -> None:
    index["entities"][1]["id"] = "e1"


def _two_texts_of_one_id(index: Tables) -> None:
    index["text_units"][1]["id"] = "t2"


def _no_id(index: Tables) -> None:
    index["documents"][0]["id"] = None


def _circle(index: Tables) -> None:
    index["communities"][0]["parent"] = 2


def _no_parent(index: Tables) -> None:
    index["communities"][2]["parent"] = 77


def _lengths(index: Tables) -> None:
    index["embeddings.entity_description"] = [
        {"id": "e1", "embedding": [1.0, 2.0]},
        {"id": "e2", "embedding": [1.0]},
    ]


def _half(index: Tables) -> None:
    for row in index["communities"]:
        row["level"] = 0.5


def _levels(index: Tables) -> None:
    bottom = index["communities"][3]
    index["communities"] += [
        {**bottom, "community": number, "parent": number - 1} for number in range(4, 3004)
    ]


def _cell(table: str, column: str, value: object) -> Callable[[Tables], None]:
    def spoil(index: Tables) -> None:
        index[table][1][column] = value

    return spoil


@pytest.mark.parametrize(
    ("spoil", "types", "said"),
    [
        (_levels, {}, "below community 0 stand 3,001 levels of others, and a search follows at"),
        (
            _cell("communities", "level", 2**70),
            {"level": "HUGEINT"},
            "communities.parquet: the column level holds 1.1805916207174113e+21, and no whole num",
        ),
        (_cell("communities", "community", 2**53 + 1), {}, "the column community holds 900719925"),
        (
            _cell("communities", "parent", "up"),
            {"parent": "VARCHAR"},
            "the column parent holds 'up', and no whole number, in row 2.",
        ),
        (
            _cell("relationships", "weight", "1e999999999"),
            {"weight": "VARCHAR"},
            "relationships.parquet: the column weight holds '1e999999999', and no number, in row 2",
        ),
        (
            _cell("relationships", "weight", "Infinity"),
            {"weight": "VARCHAR"},
            "the column weight holds 'Infinity', and no number, in row 2.",
        ),
        (
            _cell("entities", "id", "e\0"),
            {},
            "entities.parquet: the column id holds 'e\\x00', and no id of at most 1,000 character",
        ),
        (_cell("text_units", "id", "t" * 1001), {}, "text_units.parquet: the column id holds 'ttt"),
        (_cell("entities", "id", ""), {}, "entities.parquet: id has to name each row"),
        (tables, {"level": "BOOLEAN"}, "the column level is BOOLEAN, and not whole numbers."),
        (_no_column, {}, "communities.parquet lacks the column parent; it has community, level"),
        (_no_text, {}, "text_units.parquet holds no text of a document that is there"),
        (_no_table, {}, "it lacks relationships. Name the folder"),
        (_twice, {}, "1 values of id stand in several rows, such as e1."),
        (_two_texts_of_one_id, {}, "text_units.parquet: 1 values of id stand in several rows"),
        (_no_id, {}, "documents.parquet: id has to name each row"),
        (_circle, {}, "the parents of community 0 lead round in a circle"),
        (_no_parent, {}, "have a parent that is not there, such as 2 with parent 77"),
        (_lengths, {}, "embeddings.entity_description.parquet has vectors of 1 and 2 floats"),
        (_half, {"level": "DOUBLE"}, "the column level holds 0.5, and no whole number"),
        (tables, {"entity_ids": "VARCHAR"}, "entity_ids is VARCHAR, and not lists of text"),
    ],
)
def test_an_index_that_contradicts_itself_is_named(
    tmp_path: Path, spoil: Callable[[Tables], Any], types: dict[str, str], said: str
) -> None:
    index = tables()
    if spoil is not tables:
        spoil(index)
    write(tmp_path, index, **types)
    with pytest.raises(IngestError, match=re.escape(said)):
        read_index(tmp_path)


def test_what_is_no_index_is_named_and_damaged_files_show_no_trace(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="it is no folder"):
        read_index(tmp_path / "nowhere")
    with pytest.raises(IngestError, match="it lacks communities, community_reports"):
        read_index(tmp_path)

    folder = write(tmp_path / "output", tables())
    whole = (folder / "entities.parquet").read_bytes()
    with ReadingProcess() as process:
        for content in (b"", b"PAR1 nonsense", whole[: len(whole) // 2], whole[:40] + whole[60:]):
            (folder / "entities.parquet").write_bytes(content)
            with pytest.raises(IngestError, match=r"entities\.parquet cannot be understood"):
                read_index(tmp_path, process.guarded)
