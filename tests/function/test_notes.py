"""Short notes as people write them, asked through the route what two of them answer together.

Evidence counts when the chunk that holds the answer is cited; the answer when its words stand in
`final_answer`.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from drift.http.settings import load
from drift.local.ingest.selection import Selection
from drift.local.ingest.sources import read_source
from tests.function.calling import Caller
from tests.function.conftest import Environment
from tests.function.corpus import fill_from

NOTES = Path(__file__).parents[1] / "notes"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(func_only=True)]


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, base_settings: Environment) -> str:
    """A folder of notes, in a project of its name."""
    name = str(request.param)
    notes = read_source(NOTES / name, selection=Selection.of(["*.md"], []))
    asyncio.run(fill_from(notes, name, load(base_settings)))
    return name


DEEP = [("mixed", 6, 5), ("french", 4, 3), ("russian", 3, 3)]


@pytest.mark.parametrize(
    ("folder", "shown", "said"),
    [
        ("english", 7, 6),
        ("german", 6, 5),
        ("japanese", 3, 3),
        *(pytest.param(*one, marks=pytest.mark.deep) for one in DEEP),
    ],
    indirect=["folder"],
)
async def test_what_two_notes_answer_together_is_answered(
    function: Caller, folder: str, shown: int, said: int
) -> None:
    questions = json.loads((NOTES / folder / "questions.json").read_text(encoding="utf-8"))
    answers = [await function.answer(question["question"], folder) for question in questions]
    evident = [
        q["question"]
        for q, a in zip(questions, answers, strict=True)
        if _holding(folder, q) in _cited(a)
    ]
    told = [
        q["question"]
        for q, a in zip(questions, answers, strict=True)
        if q["answer"] in _flat(a["final_answer"])
    ]
    assert len(evident) >= shown, evident
    assert len(told) >= said, told


def _cited(answer: dict[str, Any]) -> set[str]:
    return {
        citation["document_name"] for fact in answer["key_facts"] for citation in fact["citations"]
    }


def _holding(folder: str, question: dict[str, Any]) -> str:
    """Return the title of the one note (a chunk each) that holds the answer's words."""
    texts = [path.read_text(encoding="utf-8") for path in (NOTES / folder).glob("*.md")]
    (text,) = [text for text in texts if question["answer"] in _flat(text)]
    return text.removeprefix("# ").split("\n", 1)[0]


def _flat(text: str) -> str:
    return " ".join(text.split())
