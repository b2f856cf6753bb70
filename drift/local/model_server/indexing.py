"""Knowledge without a language model, in the shape of a model's: the prompt's own words."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from drift.core.names import proper_names
from drift.local.model_server.lines import lines, plain
from drift.local.prompt_elements import Element, elements

Json = dict[str, Any]

_TITLE, _SAYS = 100, 60
_LINES, _QUESTIONS = 3, 3
_NAMES_OF_A_CHUNK = 6


def report(user: str) -> Json:
    """Report on passages with the first line of each of the first three that has one."""
    shown = elements(user, "chunk") or elements(user, "community")
    names = [one["document"] or one.lines()[0] for one in shown]
    first = [next(iter(_sentences(one)), "") for one in shown]
    about = list(dict.fromkeys(filter(None, names)))
    return {
        "title": ", ".join(about[:3])[:_TITLE] or "Passages",
        "summary": " ".join(list(filter(None, first))[:_LINES]) or "Passages without a sentence.",
        "questions": [f"What is said of {name}?" for name in about[:_QUESTIONS]],
    }


def facts(user: str) -> Json:
    """Note the names in capitals that passages have, and two of them that share a sentence."""
    found: Counter[str] = Counter()
    said: list[Json] = []
    for chunk in elements(user, "chunk"):
        for number, sentence in chunk.sentences().items():
            names = [name for name in proper_names(sentence) if " " in name or name.isupper()]
            found.update(names[:_NAMES_OF_A_CHUNK])
            for one, other in list(pairwise(names))[:1]:
                between = " ".join(sentence.partition(one)[2].partition(other)[0].split())
                if 0 < len(between) <= _SAYS:
                    place = f"{chunk['id']}.{number}"
                    said.append(
                        {"subject": one, "predicate": between, "object": other, "at": place}
                    )

    named = [{"name": name, "type": "name", "also": []} for name in found]
    return {"entities": named, "facts": said}


def _sentences(shown: Element) -> list[str]:
    return [plain(line.span) for line in lines(shown.content) if line.whole]
