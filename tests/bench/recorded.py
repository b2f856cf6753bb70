"""What readers replied to the prompts of a question, and a chat model that replies so again.

A reply is kept by what it means: passages and first words in place of handles and numbers. So it
fits a prompt that shows other passages, or the same ones in another order: what the reader cited is
cited where it is shown, and nothing else is.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from drift.local.evals.questions import JsonLine, LabelledPassage, read_lines
from drift.local.prompt_elements import element, elements
from drift.model.calls import Prompt

Json = dict[str, Any]

_CANDIDATE = re.compile(r"^(P\d+)\| (.*)$", re.MULTILINE)
_FACT = re.compile(r"^\[(\d+)\] (?!as above$)(.*)$", re.MULTILINE)
_SETTLED = re.compile(r"^(K\d+)\.(\d+)(?:-\d+)? (.*)$", re.MULTILINE)
_FIRST_WORDS = 8
"""Words of a sentence by which it is found again."""
_NOTHING = {
    "citations": [],
    "verdict": "not_found",
    "answer": "The chunks do not say it.",
    "confidence": 0.1,
    "new_followups": [],
}


# ------------------------------------------------------------------------------------- one prompt
@dataclass(frozen=True)
class Passages:
    """The passages of a set, found by how a prompt shows them."""

    by_text: Mapping[str, str]
    by_title: Mapping[str, Sequence[LabelledPassage]]

    @classmethod
    def of(cls, passages: Iterable[LabelledPassage]) -> Passages:
        """Know the passages by their texts and by their titles."""
        by_text, by_title = {}, defaultdict[str, list[LabelledPassage]](list)
        for one in passages:
            by_text[_letters(f"{one.title}\n{one.text}")] = one.id
            by_title[one.title].append(one)
        return cls(by_text, by_title)

    def shown(self, text: str) -> str:
        """Return the id of the passage that a prompt shows; empty for another text."""
        return self.by_text.get(_letters(text), "")

    def named(self, line: str) -> str:
        """Return the id of the passage of a candidate's line, its title and a sentence."""
        for colon in re.finditer(": ", line):
            said = _letters(line[colon.end() :].rstrip(".…"))
            for one in self.by_title.get(line[: colon.start()], ()):
                if said in _letters(f"{one.title}\n{one.text}"):
                    return one.id
        return ""


@dataclass(slots=True)
class Sight:
    """What one prompt shows: passages by handle, and the sentences and facts by number."""

    chunks: dict[str, str] = field(default_factory=dict)
    candidates: dict[str, str] = field(default_factory=dict)
    samples: list[str] = field(default_factory=list)
    sentences: dict[tuple[str, str], str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, user: str, passages: Passages) -> Sight:
        """Read a prompt."""
        sight = cls()
        for handle, number, span in _SETTLED.findall(element(user, "asked").content):
            sight.sentences[handle, number] = span
        for chunk in elements(user, "chunk"):
            told = chunk.sentences()
            if id_ := passages.shown("".join(told.values())):
                sight.chunks[chunk["id"]] = id_
            sight.sentences |= {(chunk["id"], str(at)): text for at, text in told.items()}
        for sample in elements(user, "sample"):
            sight.candidates[sample["id"]] = passages.shown(sample.content)
        sight.samples = list(sight.candidates.values())
        for handle, line in _CANDIDATE.findall(element(user, "candidates").content):
            sight.candidates[handle] = passages.named(line)
        for finding in elements(user, "finding"):
            sight.facts |= dict(_FACT.findall(finding.content))
        return sight

    @property
    def shown(self) -> list[str]:
        """The passages that a model reads whole."""
        return [id_ for id_ in (*self.samples, *self.chunks.values()) if id_]


# ------------------------------------------------------------------------------------ one question
class Recorded(JsonLine):
    """The replies to one question of a set, by what they mean."""

    set_name: str
    id: str
    primer: Json = Field(default_factory=dict)
    followups: dict[str, Json] = Field(default_factory=dict)
    aggregate: Json = Field(default_factory=dict)

    def add(self, prompt: Prompt, reply: str, sight: Sight) -> None:
        """Keep a reply to a prompt that showed this."""
        told = _json(reply)
        if prompt.name == "primer_reply":
            for asked in told["followups"]:
                read = (sight.candidates.get(handle, "") for handle in asked.get("read", ()))
                asked["read"] = [id_ for id_ in read if id_]
                asked["target_communities"] = []
            self.primer = told
        elif prompt.name == "aggregate_reply":
            for sentence in told["sentences"]:
                facts = (sight.facts.get(str(number), "") for number in sentence[1:])
                sentence[1:] = [_first_words(fact) for fact in facts if fact]
            self.aggregate = told
        else:
            asked = {one["id"]: one.content for one in _asked(prompt)}
            for answer in told.get("answers", [told]):
                question = asked[answer.pop("followup", "") or ""]
                self._add_answer(question, answer, sight)

    def _add_answer(self, question: str, answer: Json, sight: Sight) -> None:
        """Keep an answer; of several to the same question, one that found something."""
        cited = []
        for one in answer["citations"]:
            handle, number = one["chunk_id"], one["sentences"].partition("-")[0]
            words = _first_words(sight.sentences.get((handle, number), one["words"]))
            cited.append([sight.chunks.get(handle, ""), words])

        answer["citations"] = cited
        for proposed in answer.get("new_followups", ()):
            proposed["beside"] = ""
        before = self.followups.get(question)
        if before is None or (cited and not before["citations"]):
            self.followups[question] = answer

    # --------------------------------------------------------------------------------- once more
    def reply(self, prompt: Prompt, sight: Sight) -> Json:
        """Return what the reader meant, in the handles and numbers of this prompt."""
        if prompt.name == "primer_reply":
            handles = {id_: handle for handle, id_ in sight.candidates.items()}
            followups = [
                {**asked, "read": [handles[id_] for id_ in asked["read"] if id_ in handles]}
                for asked in self.primer["followups"]
            ]
            return {**self.primer, "followups": followups}

        if prompt.name == "aggregate_reply":
            numbers = {_first_words(fact): int(number) for number, fact in sight.facts.items()}
            sentences = [
                [text, *(numbers[words] for words in facts if words in numbers)]
                for text, *facts in self.aggregate["sentences"]
            ]
            return {**self.aggregate, "sentences": sentences}

        answers = [
            {"followup": one["id"], **self._answer(one.content, sight)} for one in _asked(prompt)
        ]
        return answers[0] if prompt.name == "local_reply" else {"answers": answers}

    def _answer(self, question: str, sight: Sight) -> Json:
        """Return the answer to a follow-up, with what can be cited here of its evidence."""
        answer = self.followups.get(question, _NOTHING)
        places = {_first_words(text): handle for (handle, _), text in sight.sentences.items()}
        handles = {id_: handle for handle, id_ in sight.chunks.items()}
        citations = []
        for id_, words in answer["citations"]:
            if handle := handles.get(id_) or places.get(words):
                citations.append({"chunk_id": handle, "sentences": "", "words": words})
        if answer["citations"] and not citations:
            return _NOTHING
        return {**answer, "citations": citations}


def meant(reply: str, sight: Sight) -> tuple[list[str], list[str]]:
    """Return the passages that a reply cites, and those that the primer chose to read."""
    told = _json(reply)
    answers = told.get("answers", [told])
    cited = [one["chunk_id"] for answer in answers for one in answer.get("citations", ())]
    read = [handle for asked in told.get("followups", ()) for handle in asked.get("read", ())]
    chosen = dict.fromkeys(sight.candidates.get(handle, "") for handle in read)
    return [sight.chunks[one] for one in cited if one in sight.chunks], [*filter(None, chosen)]


def _json(reply: str) -> Json:
    told: Json = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])
    return told


def _asked(prompt: Prompt) -> list[Any]:
    return elements(element(prompt.user, "followups").content, "followup")


def _first_words(sentence: str) -> str:
    return " ".join(sentence.split()[:_FIRST_WORDS])


def _letters(text: str) -> str:
    """Return a text without white space, which a prompt may change."""
    return "".join(text.split())


def read_recorded(path: Path) -> dict[tuple[str, str], Recorded]:
    """Return the recorded questions of a file by their set and id."""
    return {(one.set_name, one.id): one for one in read_lines(path, Recorded)}
