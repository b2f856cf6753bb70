"""A folder is restored as an export writes it; whatever else stands there is named."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from drift.core.errors import IngestError
from drift.local.exchange.folder import EDGES, MANIFEST, NODES, vectors_file
from drift.local.exchange.folder_reading import read_manifest
from tests.exported_folders import EMBEDDING, NODE_ROWS, OWN, Change, Files, made, put


def test_what_an_export_writes_is_read_as_it_was(tmp_path: Path) -> None:
    exported = read_manifest(made(tmp_path / "out"))
    exported.check()
    nodes = {(row["kind"], row["key"]): row for row in exported.nodes()}
    assert nodes["__DriftNode__", "mira"]["properties"] == OWN | {"id": "mira"}
    assert nodes["__Community__", 2]["vectors"] == [{"name": "mean", "floats": [0.25, 0.5]}]
    assert exported.manifest.vectors == {"embedding": {"2": 2}, "mean": {"2": 1}}


def test_vectors_of_an_earlier_release_are_read_where_people_gave_them(tmp_path: Path) -> None:
    def as_before(files: Files) -> None:
        for name, floats in (("means", list[float]()), ("meaning", [0.5])):
            del files[NODES][8]["properties"][name]
            files[NODES][8]["vectors"][name] = len(floats)
            files[MANIFEST]["vectors"][name] = {str(len(floats)): 1}
            files[MANIFEST]["files"][vectors_file(name)] = ""
            files[vectors_file(name)] = np.array(floats, "<f4").tobytes()

    exported = read_manifest(made(tmp_path / "out", as_before))
    exported.check()
    own = [*exported.nodes()][8]
    assert own["properties"]["means"] == []
    assert own["vectors"] == [{"name": "meaning", "floats": [0.5]}]


# -------------------------------------------------------------------------------------- odd folders
def refusal(folder: Path) -> str:
    try:
        read_manifest(folder).check()
    except IngestError as error:
        return error.detail
    return ""


ODD_VALUES: tuple[object, ...] = (
    KeyError, None, True, -1, 2**70, 1.5, math.nan, math.inf, "", "\ud800", "x\0", "x" * 99_999,
    [], [[]], [None], ["\ud800"], {}, {"a": {"b": {}}}, {"float": "x"},
    json.loads("[" * 500 + "]" * 500),
)  # fmt: skip
OF_MANIFEST = (
    "version drift project_id properties nodes edges vectors left_out files versions unknown "
    "nodes/__Chunk__ edges/RELATED vectors/embedding vectors/embedding/2 "
    "properties/generation properties/written_at properties/skipped properties/embedding_models"
)
OF_NODE = "kind key labels in_project properties vectors properties/id properties/embedding new"
PLACES = [
    *((MANIFEST, *path.split("/")) for path in OF_MANIFEST.split()),
    *((NODES, line, *path.split("/")) for line in (0, 2, 5, 8) for path in OF_NODE.split()),
    *(
        (EDGES, 3, *path.split("/"))
        for path in ["type", "from", "to", "properties", "properties/x", "new"]
    ),
]


@pytest.mark.parametrize("steps", PLACES, ids=str)
def test_no_value_ends_in_anything_but_a_sentence(
    tmp_path: Path, steps: tuple[str | int, ...]
) -> None:
    told = []
    for value in ODD_VALUES:
        with suppress(KeyError):  # nothing there to take out
            told.append(refusal(made(tmp_path / "out", put(*steps, to=value))))
    assert len([one for one in told if one]) > len(ODD_VALUES) / 2
    assert not re.search(r"[\n\ud800-\udfff]", "".join(told))
    assert max(map(len, told)) < 700


def _of(kind: str, *steps: str, to: object, after: int = 0) -> Change:
    return put(NODES, [row[0] for row in NODE_ROWS].index(kind) + after, *steps, to=to)


def _put(kind: str, name: str, value: object, after: int = 0) -> Change:
    return _of(kind, "properties", name, to=value, after=after)


def _own(name: str, value: object) -> Change:
    return _put("__DriftNode__", name, value)


def _labelled(kind: str, label: str) -> Change:
    return _of(kind, "labels", to=[kind, label])


def _of_project(name: str, value: object) -> Change:
    return put(MANIFEST, "properties", name, to=value)


def _more(content: object) -> Change:
    def change(files: Files) -> None:
        files[NODES].append(content or files[NODES][3])
        files[MANIFEST]["nodes"]["__Chunk__"] += 1

    return change


def _line(change: Callable[[bytes], bytes]) -> Change:
    def work(files: Files) -> None:
        files[NODES][0] = change(json.dumps(files[NODES][0]).encode() + b"\n")

    return work


def _floats(*floats: float) -> Change:
    return put(EMBEDDING, to=np.array(floats, "<f4").tobytes())


def _swapped_counts(files: Files) -> None:
    counts = files[MANIFEST]["nodes"]
    counts["__Chunk__"], counts["__Document__"] = counts["__Document__"], counts["__Chunk__"]


def _in_itself(files: Files) -> None:
    files[EDGES][4] = {**files[EDGES][5], "from": ["__Community__", 1], "to": ["__Community__", 2]}


ODD: list[tuple[Change, str]] = [
    # the manifest
    (_of_project("writer_until", 2**62), "`writer_until` is set by this program alone"),
    (_of_project("id", "other"), "`id` is set by this program alone"),
    (_of_project("project_id", "other"), "`project_id` is set by this program alone"),
    (_of_project("deleting", True), "`deleting` is set by this program alone"),
    (_of_project("generation", 2**62), "`generation` has to be a whole number from 0 to"),
    (_of_project("generation", -1), "`generation` has to be a whole number from 0 to"),
    (_of_project("derived_at", 2**52), "`derived_at` has to be milliseconds since 1970"),
    (_of_project("skipped", ["[]"]), "`skipped` has to be files that hold no document"),
    (_of_project("x", 2**63), "property 'x': it is no value that a property holds"),
    (put(MANIFEST, "versions", to=[""]), "is no manifest of an export, or was changed: 'versions"),
    (
        put(MANIFEST, "vectors", "mean_../..", to={"2": 1}),
        "'vectors.mean_../...[key]': string should match",
    ),
    (put(MANIFEST, "extra", to=1), "'extra': extra inputs are not permitted"),
    (put(MANIFEST, "version", to=10**30), "is of version 10000000000000000000, and this release"),
    (_swapped_counts, "it holds other numbers of nodes, edges or vectors than project.json counts"),
    # labels
    (
        _labelled("__Chunk__", "__Project__"),
        "Line 3 of NODES is none that an export writes: no nod",
    ),
    (_labelled("__Chunk__", "__StagedChunk__"), "no node __Chunk__ has the label __StagedChunk__"),
    (_labelled("__Entity__", "__Chunk__"), "no node __Entity__ has the label __Chunk__"),
    (_labelled("__DriftNode__", "__DriftFormat__"), "no node __DriftNode__ has the label __Drift"),
    (_labelled("__Node__", "Chunk"), "no node __Node__ has the label Chunk"),
    (_labelled("__Chunk__", "__Chunk__"), "a label is there twice"),
    (_labelled("__Chunk__", ""), "its labels have to be a list of names with __Chunk__ in it"),
    (_labelled("__Chunk__", "a\0"), "its labels have to be a list of names with __Chunk__ in it"),
    (_of("__Chunk__", "kind", to="__Project__"), "its kind is none of a project"),
    # properties
    (_own("project_id", "other"), "Line 9 of NODES is none that an export writes: `project_id` is"),
    (_put("__Chunk__", "left_out_of", "p"), "`left_out_of` is set by this program alone"),
    (_put("__Entity__", "generation", 4), "it is not of the project's generation, 3"),
    (_put("__Entity__", "until", 3), "it is not of the project's generation, 3"),
    (_put("__Entity__", "title_key", "é" * 4100), "an index holds no key of more than 8,163 bytes"),
    (_of("__Chunk__", "key", to="k9"), "its key has to be that of its properties"),
    (_put("__Chunk__", "text", 7), "Line 3 of NODES is none that an export writes: `text` has to"),
    (_put("__Community__", "level", "deep"), "`level` has to be a whole number up to"),
    (_put("__OffChunk__", "defines", ["[" * 9999]), "`defines` has to be definitions"),
    (_put("__ModelReply__", "parts", KeyError), "it lacks `parts`"),
    (_put("__Node__", "embedding_hash", KeyError), "it lacks `embedding_hash`"),
    *(
        (_own("x", value), "property 'x': it is no value that a property holds")
        for value in (
            *(None, {"a": 1}, [[1]], {"float": "1.5"}, {"date": "2024-02-30"}, {"bytes": "!"}),
            {"datetime": ["2024-01-01T00:00:00", "../x"]},
            *({"point": [4326, 5.0, 91.0]}, {"point": [7203, 1.0, math.inf]}, {"point": [1, 2.0]}),
            *({"duration": [2**62, 2**62, 2**62, 0]}, {"duration": [True, 0, 0, 0]}),
        )
    ),
    (_own("x", [1, "a"]), "property 'x': it is a list of several types"),
    (_own("x", [{"point": [n, 1.0, 2.0]} for n in (7203, 4326)]), "it is a list of several types"),
    (_own("x", [{"bytes": ""}]), "property 'x': it is a list of several types"),
    (_own("x", "\ud800"), "property 'x': it holds half a letter"),
    (_own("\ud800", 1), "'\\ud800' is no name of a property"),
    (_own("\0", 1), "'\\x00' is no name of a property"),
    (_own("", 1), "'' is no name of a property"),
    # vectors
    (_of("__Chunk__", "vectors", "mean_x", to=2), "'mean_x' is no vector that project.json counts"),
    (_of("__Chunk__", "vectors", "embedding", to=4), "'embedding' is no vector that project.json"),
    (_of("__Chunk__", "vectors", "embedding", to=-2), "'embedding' is no vector that project.json"),
    (_put("__Chunk__", "embedding", [0.5]), "'embedding' is no vector that project.json counts"),
    (_of("__Chunk__", "vectors", to={}), "it holds other numbers of nodes, edges or vectors than"),
    (_floats(0.25, 0.5, 0.5, math.nan), "Line 6 of NODES is none that an export writes: its 'embe"),
    (_floats(math.inf, 0.5, 0.5, 0.5), "its 'embedding' holds what is no number"),
    (_floats(0.25, 0.5, 0.25), "vectors-embedding.f32 holds another number of rows than"),
    # lines
    (_more(None), "Line 11 of NODES is none that an export writes: a line before it has the same"),
    (_more(b"[" * 3000 + b"]" * 3000 + b"\n"), "Line 11 of NODES is none that an export writes"),
    (_more(b'{"a":' * 99_999 + b"\n"), "Line 11 of NODES is none that an export writes: it is nes"),
    (_more(b"\n"), "Line 11 of NODES is none that an export writes"),
    (
        _line(lambda line: line.replace(b"a.md", b"\xff.md")),
        "Line 1 of NODES is none that an expor",
    ),
    (_line(lambda line: b"\xef\xbb\xbf" + line), "Line 1 of NODES is none that an export writes"),
    (_line(lambda line: line[:40] + b"\n"), "Line 1 of NODES is none that an export writes"),
    (_line(lambda line: line.replace(b"5", b"5" * 9999)), "Line 1 of NODES is none that an export"),
    # edges
    (put(EDGES, 3, "type", to=""), "Line 4 of EDGES is none that an export writes: '' is no type"),
    (put(EDGES, 3, "type", to="IN_PROJECT"), "'IN_PROJECT' is no type of an edge of a project"),
    (
        put(EDGES, 0, "to", to=["__Entity__", "e1"]),
        "HAS_CHUNK leads from __Document__ to __Chunk__",
    ),
    (put(EDGES, 2, "type", to="RELATED"), "RELATED leads from __Entity__ to __Entity__"),
    (put(EDGES, 6, "to", to=["__Chunk__", "k9"]), "nodes.jsonl has no node '__Chunk__' 'k9'"),
    (put(EDGES, 6, "to", to=["__Chunk__", "e1"]), "nodes.jsonl has no node '__Chunk__' 'e1'"),
    (put(EDGES, 6, "to", to=["__Chunk__"]), "`to` has to be a kind and a key"),
    (put(EDGES, 6, "to", to=["__Chunk__", []]), "`to` has to be a kind and a key"),
    (put(EDGES, 3, "properties", "weight", to="x"), "`weight` has to be a number"),
    (
        _put("__Document__", "is_off", KeyError, 1),
        "__OffChunk__ 'k2' is of no document that is off",
    ),
    (_in_itself, "is in itself, by those above it"),
]


@pytest.mark.parametrize(
    ("change", "said"), ODD, ids=[f"{number} {said}" for number, (_, said) in enumerate(ODD)]
)
def test_what_no_export_writes_is_named_with_its_file_and_line(
    tmp_path: Path, change: Change, said: str
) -> None:
    folder = made(tmp_path / "out", change)
    places = {"NODES": folder / NODES, "EDGES": folder / EDGES}
    for name, place in places.items():
        said = said.replace(name, str(place))
    assert said in refusal(folder)


@pytest.mark.parametrize("name", [MANIFEST, NODES, EDGES, EMBEDDING])
@pytest.mark.parametrize("how", ["gone", "a folder", "empty", "cut", "a link"])
def test_files_that_are_not_whole_are_named(tmp_path: Path, name: str, how: str) -> None:
    folder = made(tmp_path / "out")
    whole = (folder / name).read_bytes()
    (folder / name).unlink()
    match how:
        case "a folder":
            (folder / name).mkdir()
        case "empty" | "cut":
            (folder / name).write_bytes(whole[: len(whole) // 2] if how == "cut" else b"")
        case "a link":
            (folder / name).symlink_to("/dev/zero")
    told = refusal(folder)
    assert str(folder) in told
    assert re.search(re.escape(name), told)
