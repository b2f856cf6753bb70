"""Question sets from disk: passages, what they mention, and questions with what supports them.

A set is a folder with `documents.jsonl` {id, title, text}, `questions.jsonl` {id, question,
supporting_ids, decomposition?} and either `triples.jsonl` {id, entities, triples} or
`heuristic_entities.jsonl` {id, entities}, all keyed by the passage's id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drift.core.errors import IngestError
from drift.core.names import normalised_title

DOCUMENTS, QUESTIONS, TRIPLES, ENTITIES = (
    "documents.jsonl",
    "questions.jsonl",
    "triples.jsonl",
    "heuristic_entities.jsonl",
)
_TRIPLE_LENGTH = 3
_STEP = re.compile(r"#(\d+)")

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage.

    `entities` are titles of what it mentions; `triples` say what it says, as (subject, predicate,
    object).
    """

    id: str
    title: str
    text: str
    entities: tuple[str, ...]
    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with the ids of the passages that answer it.

    `steps` are its sub-questions, earlier answers filled in.
    """

    id: str
    text: str
    supporting: frozenset[str]
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """One folder."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[LabelledQuestion, ...]


def read_question_sets(folder: Path) -> tuple[QuestionSet, ...]:
    """Return every set below the folder, by name.

    Raises:
        IngestError: when the folder holds no set, or a file is not as described; it names the file
            and the line.
    """
    folders = (
        sorted(path.parent for path in folder.glob(f"*/{QUESTIONS}")) if folder.is_dir() else []
    )
    if not folders:
        raise IngestError(
            f"{folder} holds no question set: expected folders with {DOCUMENTS} and {QUESTIONS}."
        )
    return tuple(_read_set(path) for path in folders)


def _read_set(folder: Path) -> QuestionSet:
    stated = folder / TRIPLES
    mentioned = stated if stated.exists() else folder / ENTITIES
    found = {str(row["id"]): row for row in _rows(mentioned, "id", "entities")}
    passages = tuple(
        _passage(row, found.get(str(row["id"]), {}))
        for row in _rows(folder / DOCUMENTS, "id", "title", "text")
    )
    questions = tuple(
        _question(row) for row in _rows(folder / QUESTIONS, "id", "question", "supporting_ids")
    )
    return QuestionSet(folder.name, passages, questions)


def _rows(path: Path, *required: str) -> Iterator[Mapping[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise IngestError(f"{path} cannot be read: {error}.") from error
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise IngestError(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(row, dict) or (missing := [key for key in required if key not in row]):
            lacking = ", ".join(missing) if isinstance(row, dict) else "an object"
            raise IngestError(f"{path}, line {number}: {lacking} is missing.")
        yield row


def _passage(row: Mapping[str, Any], found: Mapping[str, Any]) -> Passage:
    """Join a passage with what was found in it; a triple of other than three texts is left out."""
    triples = tuple(
        (str(t[0]), str(t[1]), str(t[2]))
        for t in found.get("triples", ())
        if len(t) == _TRIPLE_LENGTH and all(t)
    )
    title, mentioned = str(row["title"]), [str(e) for e in found.get("entities", ())]
    if "triples" not in found:
        triples = tuple(_about_title(title, mentioned))
    ends = [end for subject, _, object_ in triples for end in (subject, object_)]
    titles = {normalised_title(t): t for t in reversed((*ends, *mentioned)) if normalised_title(t)}
    return Passage(
        str(row["id"]), title, str(row["text"]), tuple(reversed(titles.values())), triples
    )


def _about_title(title: str, mentioned: list[str]) -> Iterator[Triple]:
    """Yield triples for a passage without any: its title has to do with all that it mentions."""
    for other in mentioned:
        if normalised_title(other) != normalised_title(title):
            yield title, "has to do with", other


def _question(row: Mapping[str, Any]) -> LabelledQuestion:
    steps = row.get("decomposition") or ()
    answers = {str(place): str(step["answer"]) for place, step in enumerate(steps, start=1)}
    texts = (
        _STEP.sub(lambda match: answers.get(match[1], match[0]), str(step["question"]))
        for step in steps
    )
    supporting = frozenset(str(id_) for id_ in row["supporting_ids"])
    return LabelledQuestion(str(row["id"]), str(row["question"]), supporting, tuple(texts))
