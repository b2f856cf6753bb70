"""How often the rule about names refuses a question: with its passages shown, and without them.

The chunks that a search would show are imitated by the passages that share the rarest words with
the question. Names are misspelt by two letters that change places.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from drift.evidence.missing_names import unseen_name
from drift.local.evals.questions import (
    LabelledPassage,
    LabelledQuestion,
    QuestionSet,
    read_question_sets,
)
from tests.bench.command import Options, read_options, run, show

SHOWN_PASSAGES = 10
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<=[\w,] )[A-Z][^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class NameFigures:
    """Questions of a set, and how many of them the rule refuses.

    `shown`: although the passages that answer are shown; `misspelt`: the same, with each name
    misspelt; `withheld`: with passages alone that do not answer. `false_alarms` are the questions
    refused with their passages, each with the name.
    """

    name: str
    questions: int
    shown: int
    misspelt: int
    withheld: int
    false_alarms: tuple[str, ...]


def measure_names(questions: QuestionSet) -> NameFigures:
    """Return what the rule does with every question of a set."""
    words = {passage.id: set(_words(_text(passage))) for passage in questions.passages}
    passages_with = Counter(word for own in words.values() for word in own)
    rarity = {word: math.log(len(words) / count) for word, count in passages_with.items()}

    def near(question: LabelledQuestion) -> list[LabelledPassage]:
        """Return the ten that share most, rare words first, without those that answer."""
        asked = set(_words(question.text))
        others = [p for p in questions.passages if p.id not in question.supporting]
        others.sort(key=lambda p: -sum(rarity[word] for word in asked & words[p.id]))
        return others[:SHOWN_PASSAGES]

    alarms: list[str] = []
    misspelt = withheld = 0
    for question in questions.questions:
        gold = [_text(p) for p in questions.passages if p.id in question.supporting]
        others = [_text(p) for p in near(question)]
        if name := unseen_name(question.text, [*gold, *others]):
            alarms.append(f"{name}: {question.text}")
        misspelt += bool(unseen_name(_misspelt(question.text), [*gold, *others]))
        withheld += bool(unseen_name(question.text, others))

    total = len(questions.questions)
    return NameFigures(questions.name, total, len(alarms), misspelt, withheld, tuple(alarms))


def _text(passage: LabelledPassage) -> str:
    return f"{passage.title}\n{passage.text}"


def _words(text: str) -> Iterator[str]:
    return (match[0].casefold() for match in _WORD.finditer(text))


def _misspelt(question: str) -> str:
    """Return a question in which two letters of each name have changed places."""
    return _NAME.sub(lambda m: m[0][:1] + m[0][2] + m[0][1] + m[0][3:], question)


async def bench(asked: Options) -> None:
    """Count the refused questions of each set, without any server."""
    sets = read_question_sets(asked.sets)
    show([asdict(await asyncio.to_thread(measure_names, one)) for one in sets], asked)


if __name__ == "__main__":
    run(bench, read_options(__doc__, sets=(Path, "sets as `drift eval recall` takes them")))
