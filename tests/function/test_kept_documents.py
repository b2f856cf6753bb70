"""Twenty questions to tables, pages and words that are written in odd ways, by the route.

A question counts when a cited span holds its answer, and with it the page where there is one.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

import pytest

from drift.http.settings import load
from drift.local.ingest.sources import read_source
from tests.function.calling import Caller
from tests.function.conftest import Environment
from tests.function.corpus import fill_from
from tests.ingest import made_files as made

PROJECT = "kept-documents"
RIGHT = 18

pytestmark = [pytest.mark.slow, pytest.mark.timeout(func_only=True)]


class Asked(NamedTuple):
    question: str
    held: tuple[str, ...]
    page: int | None = None


FILLING = (
    "The office writes down what comes in and what goes out, and a clerk signs each sheet.",
    "Visitors are asked to leave their dogs outside and to read the notice at the gate.",
    "Every spring the rails are painted, and the old ropes are given to the museum of the town.",
)
HEAD = "Harbour of Skarv, annual report"
SAID = (
    ("The lighthouse of Skarv was built in", "1887 of grey granite by Nils Holm."),
    ("The crane on the north quay lifts twenty-", "five tons and was inspected in March."),
    ("Storm Elna destroyed the fish market in Novem-", "ber, and the roof cost 41,000 crowns."),
    ("The pilots went on strike for nine days over", "their pensions."),
)
PAGES = [[HEAD, *said, *FILLING, f"Page {n}"] for n, said in enumerate(SAID, 1)]
FLEET = [
    ["Vessel", "Captain", "Length m", "Home port"],
    ["Mira", "Ingrid Falk", 12.5, "Skarv"],
    ["Heron", "Pavel Novak", 31, "Tromso"],
    ["Osprey", "Aisha Diallo", 22, "Bergen"],
    *([f"Barge {n}", f"Keeper {n}", 40 + n, "Oslo"] for n in range(60)),
]
TARIFFS = [
    ["Ticket", "Adult price", "Child price"],
    ["Single", "40 crowns", "18 crowns"],
    ["Monthly pass", "610 crowns", "305 crowns"],
    ["Bicycle", "25 crowns", "25 crowns"],
]
ROSTER = "Shift;Watchman;Radio channel\nNight;Jörg Brändle;16\nMorning;Céline Dufour;11\n"
PARTS = [
    ("Heading 1", "Boiler manual"),
    ("", "The boiler of the icebreaker burns birch wood and is lit an hour before sailing."),
    [["Valve", "Pressure limit"], ["Relief valve", "9 bar"], ["Feed valve", "4 bar"]],
    ("Heading 2", "Alarms"),
    ("", "When the red alarm sounds, the stoker closes the damper and rings the bell twice."),
]
SLIDES = [
    ("Budget of the festival", ["The fireworks cost 7,300 crowns."], []),
    ("Bands", ["Doors open at six."], [["Band", "Stage"], ["Tin Gulls", "East"], ["Moss", "West"]]),
]
WORDS = (
    "The o\ufb03ce of the \ufb01shery keeps the sealed ledgers in an iron cabinet.\n\n"
    "The photo\u00adgrapher Odile Marchand took the por\u00adtrait of the mayor.\n\n"
    "In the cafe\u0301 Zoe\u0308 the sailors play chess on Thursdays.\n\n"
    "The wreck of the Valkyrie lies off the rocks, where a div-\ner found its compass.\n"
)
CELLS = [
    ("markdown", "# Tide model\nThe amplitude at Skarv is 2.31 metres.", ""),
    ("code", "fit = regress(levels)\nprint(fit)", "residual error 0.044\n"),
]
ASKED = [
    Asked("Who built the lighthouse of Skarv?", ("Nils Holm",), 1),
    Asked("How much does the crane on the north quay lift?", ("five tons",), 2),
    Asked("What did the roof of the fish market cost?", ("41,000 crowns",), 3),
    Asked("In which month did storm Elna destroy the fish market?", ("Novem-",), 3),
    Asked("How long were the pilots on strike?", ("nine days",), 4),
    Asked("Who is the captain of the Heron?", ("Heron", "Pavel Novak")),
    Asked("What is the home port of the Osprey?", ("Osprey", "Bergen")),
    Asked("How long is the vessel Mira?", ("Mira", "12.5")),
    Asked("Who is the captain of Barge 57?", ("Barge 57", "Keeper 57")),
    Asked("What is the child price of a monthly pass?", ("Monthly pass", "305 crowns")),
    Asked("What does a single ticket cost an adult?", ("Single", "40 crowns")),
    Asked("Who is the watchman of the night shift?", ("Night", "Jörg Brändle")),
    Asked("Which radio channel does Céline Dufour use?", ("Céline Dufour", "11")),
    Asked("What is the pressure limit of the relief valve?", ("Relief valve", "9 bar")),
    Asked("What does the stoker do when the red alarm sounds?", ("closes the damper",)),
    Asked("What did the fireworks of the festival cost?", ("7,300 crowns",), 1),
    Asked("On which stage do the Tin Gulls play?", ("Tin Gulls", "East"), 2),
    Asked("Where does the office of the fishery keep the ledgers?", ("iron cabinet",)),
    Asked("Who is the photographer that took the portrait of the mayor?", ("Odile Marchand",)),
    Asked("What did the diver find at the wreck of the Valkyrie?", ("its compass",)),
]


def write(folder: Path) -> None:
    """Make a file of each format."""
    price = "".join(
        f"<tr>{''.join(f'<td>{value}</td>' for value in row)}</tr>" for row in TARIFFS[1:]
    )
    head = "".join(f"<th>{name}</th>" for name in TARIFFS[0])
    page = (
        f"<main><h1>Tariffs of the ferry</h1><p>{' '.join(FILLING)}</p>"
        f"<table><tr>{head}</tr>{price}</table></main>"
    )
    for name, content in {
        "report.pdf": made.pdf(PAGES, "Annual report"),
        "fleet.xlsx": made.workbook({"Fleet": FLEET}),
        "tariffs.html": page.encode(),
        "roster.csv": ROSTER.encode("cp1252"),
        "boiler.docx": made.word("Boiler manual", PARTS),
        "festival.pptx": made.slides("Festival", SLIDES),
        "words.txt": WORDS.encode(),
        "tides.ipynb": made.notebook(CELLS),
        "crew.ods": made.open_sheet("Crew", [["Name", "Cabin"], ["Hanna Lind", "7b"]]),
    }.items():
        (folder / name).write_bytes(content)


@pytest.fixture(scope="module")
def documents(base_settings: Environment, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project of these files."""
    folder = tmp_path_factory.mktemp("kept")
    write(folder)
    report = asyncio.run(fill_from(read_source(folder), PROJECT, load(base_settings)))
    assert (len(report.added), report.skipped) == (9, ())
    assert report.notes == {"roster.csv": "was read as cp1252"}
    return PROJECT


async def test_questions_to_tables_pages_and_odd_words_are_answered_from_the_right_span(
    function: Caller, documents: str
) -> None:
    right = []
    for asked in ASKED:
        answer = await function.answer(
            asked.question, documents, depth="quick", include=["locations"]
        )
        cited = [one for fact in answer["key_facts"] for one in fact["citations"]]
        if any(
            all(part in one["span"] for part in asked.held)
            and asked.page in {None, one.get("page")}
            for one in cited
        ):
            right.append(asked.question)

    wrong = [asked.question for asked in ASKED if asked.question not in right]
    assert len(right) >= RIGHT, wrong
