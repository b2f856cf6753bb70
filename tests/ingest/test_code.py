"""Source code becomes chunks along its definitions, whatever it is."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.graph.writing.records import Definition
from drift.indexing.chunking import MAX_CHARS
from drift.indexing.documents import SourceDocument
from drift.local.ingest.code.code_documents import MAX_PARSED_BYTES, read_code
from drift.local.ingest.code.languages import LANGUAGES

ROOT = Path(__file__).parents[2]

SOURCES = {
    "a.py": "LIMIT = 1\n\n\n@final\nclass Valve(Part):\n    '''Lets water in.'''\n\n    "
    "def open(self) -> None:\n        '''Turn it.'''\n        other = 2\n",
    "a.ts": "export const LIMIT = 1;\n/** Lets water in. */\nexport class Valve<T> extends Part {\n"
    "  open(): void { const other = 2; }\n}\ninterface Flow { q(): void }\ntype Rate = number;\n"
    "const close = async () => 1;\n",
    "a.js": "class Valve { open() {} }\nfunction* flow() {}\nexports.close = function () {};\n",
    "a.java": "package a;\npublic class Valve {\n  static final int LIMIT = 1;\n  int other;\n"
    "  /** Turn it. */\n  void open() { int deep = 1; }\n  interface Flow {}\n}\n",
    "a.go": "package a\n\n// Valve lets water in.\ntype Valve struct{}\n\ntype Flow interface{}\n\n"
    "func (v *Valve) Open() error { return nil }\n\nconst LIMIT, LEAST = 1, 0\n",
    "a.cs": "namespace N {\npublic class Valve {\n  const int LIMIT = 1;\n  int other;\n"
    "  /// <summary>Turn it.</summary>\n  void Open() {}\n  interface IFlow {}\n}\n}\n",
}
DEFINED = {
    "a.py": "constant LIMIT 1-1, class Valve 5-10, method Valve.open 8-10",
    "a.ts": "constant LIMIT 1-1, class Valve 3-5, method Valve.open 4-4, interface Flow 6-6, "
    "type Rate 7-7, function close 8-8",
    "a.js": "class Valve 1-1, method Valve.open 1-1, function flow 2-2, function close 3-3",
    "a.java": "class Valve 2-8, constant Valve.LIMIT 3-3, method Valve.open 6-6, "
    "interface Valve.Flow 7-7",
    "a.go": "type Valve 4-4, interface Flow 6-6, method Valve.Open 8-8, constant LIMIT 10-10, "
    "constant LEAST 10-10",
    "a.cs": "class Valve 2-8, constant Valve.LIMIT 3-3, method Valve.Open 6-6, "
    "interface Valve.IFlow 7-7",
}


def _read(name: str, text: str | bytes) -> SourceDocument:
    read = read_code(text.encode() if isinstance(text, str) else text, name)
    assert isinstance(read, SourceDocument)
    return read


def _defined(document: SourceDocument) -> list[Definition]:
    return [one for piece in document.pieces for one in piece.defines]


@pytest.mark.parametrize("name", SOURCES)
def test_definitions_of_each_language_have_kinds_and_lines(name: str) -> None:
    found = _defined(_read(name, SOURCES[name]))
    told = ", ".join(f"{one.type} {one.title} {one.first_line}-{one.last_line}" for one in found)
    assert told == DEFINED[name]


def test_a_description_is_the_signature_and_the_first_line_of_what_the_author_says() -> None:
    found = {one.title: one.description for one in _defined(_read("a.py", SOURCES["a.py"]))}
    assert found["Valve"] == "class Valve(Part) – Lets water in."
    assert found["Valve.open"] == "def open(self) -> None – Turn it."
    assert "Valve lets water in." in _defined(_read("a.go", SOURCES["a.go"]))[0].description


def test_every_definition_of_this_repository_is_found() -> None:
    """Checked with Python's own parser, over one room of it."""
    for path in (ROOT / "drift" / "local" / "ingest").rglob("*.py"):
        text = path.read_text()
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        wanted = {
            (node.name, node.lineno, node.end_lineno)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, kinds)
        }
        found = {
            (one.title.split(".")[-1], one.first_line, one.last_line)
            for one in _defined(_read("a.py", text))
            if one.type != "constant"
        }
        assert found >= wanted, path


def test_methods_stay_whole_under_the_path_of_definitions_and_small_neighbours_join() -> None:
    body = "        x = 'some work that takes its place'\n" * 20
    text = f"import os\n\n\nclass Valve:\n    def open(self):\n{body}\n    def close(self):\n{body}"
    text += "\n\ndef small():\n    pass\n\n\ndef tiny():\n    pass\n"
    document = _read("a.py", text)
    headings = [one.heading for one in document.pieces]
    assert headings == ["Valve > open", "Valve > close", "small, tiny"]
    method = next(one for one in document.pieces if one.heading == "Valve > close")
    assert document.text[method.start :].startswith("    def close")
    assert document.text[: method.end].endswith(body.rstrip())


@given(
    st.sampled_from(sorted(LANGUAGES)),
    st.lists(
        st.sampled_from([*SOURCES.values(), "{", "}\n", "def ü(:\n", "'", '"""', "\t(", "é😀"])
    ),
)
def test_whatever_is_in_a_file_nothing_of_it_is_lost(suffix: str, parts: list[str]) -> None:
    text = "".join(parts) + "x"
    document = _read(f"a{suffix}", text)
    cut = [document.text[one.start : one.end] for one in document.pieces]
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert max(map(len, cut)) <= MAX_CHARS


def test_what_a_program_wrote_is_cut_as_plain_text() -> None:
    line = b"var a=1;function b(){return c(d)};"
    document = _read("a.min.js", line * (MAX_PARSED_BYTES // len(line) + 1))
    assert len(document.pieces) > 100
    assert "cut as plain text" in document.note
    assert not _defined(document)


@pytest.mark.parametrize("suffix", [".cs", ".java", ".ts"])
def test_angles_that_never_close_keep_no_grammar_busy(suffix: str) -> None:
    began = time.perf_counter()
    document = _read(f"a{suffix}", "A<" * (MAX_PARSED_BYTES // 3))
    assert time.perf_counter() - began < 20
    assert "cut as plain text" in document.note
