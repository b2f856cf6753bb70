"""Answers without a language model: the best lines of the prompt's own JSON blocks, word for word.

Every claim is grounded by construction: citations are exact slices of the chunks, and where nothing
is close enough to the question the answer says so. The same prompt always gets the same reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drift.offline.model_server.lines import Line, lines, plain
from drift.offline.model_server.relevance import affinity, alike, choose, terms

UNANSWERED = "The context does not answer this."

CLOSE_ENOUGH = 0.31
"""Score from which a line is an answer; most words of an unrelated question stand in no line."""
ABOUT_IT = 0.2
"""Score from which a line that answers a follow-up has to do with the question."""
NEAR_THE_BEST = 0.45
"""Further lines, and communities to ask about, are taken down to this share of the best score."""
CERTAIN = 0.8
"""Score from which the confidence is highest."""
CONTENT = 0.75
"""Confidence from which nothing more is asked."""
NO_CONFIDENCE = 0.1

FOLLOWUPS = 4
LOCAL_LINES = 4
MAX_FACTS = 6
ANSWER_LINES = 4
ANSWER_LENGTH = 700
ABOUT = 80
"""Characters of a community's first line that a question about it names."""

_BLOCK = re.compile(r"^([^\n:`]+):\n```json\n(.*)\n```$", re.MULTILINE)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ScoredLine:
    """A line with its chunk, and how well it answers (0 to 1)."""

    line: Line
    chunk_id: str
    score: float


def reply(name: str, user: str) -> str:
    """Return the reply called `name` to a user message.

    Raises:
        KeyError: when there is no reply of that name.
    """
    made = REPLIES[name](blocks(user))
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


def blocks(user: str) -> Json:
    """Return the JSON blocks of a prompt by label; a block that is not JSON is left out."""
    found: Json = {}
    for label, data in _BLOCK.findall(user):
        try:
            found[label] = json.loads(data)
        except ValueError:
            continue
    return found


def _list(given: Json, *path: str) -> list[Any]:
    """Return the list at a path; anything else counts as an empty one."""
    value: Any = given
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def _items(given: Json, *path: str) -> list[Json]:
    """Return the objects of the list at a path."""
    return [item for item in _list(given, *path) if isinstance(item, dict)]


# -------------------------------------------------------------------------------------- the replies
def hypothesis(given: Json) -> str:
    """Return the question without its mark: what is known about its answer without a model."""
    return _bare(str(given.get("Question", ""))) or UNANSWERED


def primer(given: Json) -> Json:
    """Answer from the sample chunks, and ask the question itself and with each close community."""
    question = str(given.get("User question", ""))
    communities = _closest(question, _items(given, "Community details"))
    followups = [_followup(question, communities[:3])]
    for community in communities[: FOLLOWUPS - 1]:
        about = str(community.get("summary", "")).split("\n", 1)[0][:ABOUT]
        followups.append(_followup(f"{question} ({about})", [community]))
    if len(followups) == 1:
        followups.append(_followup(_bare(question), []))

    best = _answering(question, _items(given, "Sample chunks"), most=2)
    return {
        "initial_answer": _text([found.line.text for found in best])
        or "The sample chunks do not answer this.",
        "followups": followups,
        "rationale": "The question itself, and the communities closest to it.",
    }


def local(given: Json) -> Json:
    """Answer a follow-up with a few lines and where they stand."""
    followup = str(given.get("Follow-up question", ""))
    chunks = _items(given, "Retrieved chunks")
    valid = set(map(str, _list(given, "Valid chunk ids")))
    shown = {chunk["id"]: chunk for chunk in chunks if str(chunk.get("id", "")) in valid}
    best = _answering(followup, list(shown.values()), LOCAL_LINES)

    confidence = _confidence(best[0].score) if best else NO_CONFIDENCE
    asking = _new_followups(given, followup, best) if confidence < CONTENT else []
    return {
        "answer": _text([found.line.text for found in best]) or UNANSWERED,
        "citations": [{"chunk_id": found.chunk_id, "span": found.line.span} for found in best],
        "new_followups": asking,
        "confidence": confidence,
        "should_continue": bool(asking),
    }


def joint(given: Json) -> Json:
    """Answer several follow-ups, each as if it were asked alone."""
    asked = _items(given, "Follow-up questions")
    alone = [local({**given, "Follow-up question": one.get("question")}) for one in asked]
    pairs = zip(asked, alone, strict=True)
    return {"answers": [{"followup": one.get("id"), **made} for one, made in pairs]}


def aggregate(given: Json) -> Json:
    """Answer with the best lines that the follow-ups cited; each is a key fact with its chunks."""
    question = str(given.get("User question", ""))
    followups = _items(given, "Q/A tree", "followups")
    unanswered = [f for f in followups if f.get("answer") in (None, "", UNANSWERED)]
    answered = [f for f in followups if f not in unanswered]

    facts = _facts(question, answered, set(map(str, _list(given, "Valid chunk ids"))))
    still_open = " ".join(dict.fromkeys(str(f.get("question", "")) for f in unanswered))
    return {
        "final_answer": _brief([fact["fact"] for fact in facts]) or UNANSWERED,
        "key_facts": facts,
        "residual_uncertainty": f"The text found does not answer: {still_open}"
        if still_open
        else "",
    }


REPLIES: Mapping[str, Callable[[Json], Json | str]] = {
    "hypothesis": hypothesis,
    "primer_reply": primer,
    "local_reply": local,
    "joint_reply": joint,
    "aggregate_reply": aggregate,
}


# -------------------------------------------------------------------------------------------- lines
def _answering(question: str, chunks: Sequence[Json], most: int) -> list[ScoredLine]:
    """Return the lines of chunks that answer a question, the best one first."""
    places = [(chunk, line) for chunk in chunks for line in lines(str(chunk.get("text", "")))]
    around = [f"{chunk.get('document', '')} {line.under}" for chunk, line in places]
    chosen = choose(question, [line.text for _, line in places], around, most)
    if not chosen or chosen[0][1] < CLOSE_ENOUGH:
        return []

    least = chosen[0][1] * NEAR_THE_BEST
    found = [
        ScoredLine(places[at][1], str(places[at][0].get("id", "")), score) for at, score in chosen
    ]
    return [one for one in found if one.score >= least]


def _text(said: Sequence[str]) -> str:
    """Return lines as one text; what does not end as a sentence does is set off."""
    return " ".join(one if Line(one, one).whole else f"{one};" for one in said).rstrip(";")


def _confidence(score: float) -> float:
    """Return 0.3 to 0.95 for the best line's score from CLOSE_ENOUGH to CERTAIN."""
    share = (score - CLOSE_ENOUGH) / (CERTAIN - CLOSE_ENOUGH)
    return round(0.3 + 0.65 * min(1.0, share), 2)


# --------------------------------------------------------------------------------------- follow-ups
def _closest(question: str, communities: Sequence[Json]) -> list[Json]:
    """Return the communities closest to a question, the closest first."""
    near = [(affinity(question, str(c.get("summary", ""))), c) for c in communities]
    near.sort(key=lambda pair: -pair[0])
    return [c for closeness, c in near if closeness >= near[0][0] * NEAR_THE_BEST]


def _new_followups(given: Json, followup: str, best: Sequence[ScoredLine]) -> list[Json]:
    """Return up to two questions about entities close to what was found, not asked about yet."""
    question = str(given.get("User question", ""))
    asked = terms(f"{question} {followup}")
    so_far = " ".join((question, *(found.line.text for found in best)))
    near = []
    for entity in _items(given, "Graph neighbourhood", "entities"):
        title = str(entity.get("title", ""))
        closeness = affinity(so_far, f"{title}. {entity.get('description') or ''}")
        if terms(title) - asked and closeness >= CLOSE_ENOUGH:
            near.append((-closeness, title))

    communities = _items(given, "Communities")
    chosen = [title for _, title in sorted(near)[:2]]
    return [
        _followup(f"{question} ({title})", _closest(title, communities)[:2]) for title in chosen
    ]


def _followup(question: str, communities: Sequence[Json]) -> Json:
    return {"question": question, "target_communities": [str(c.get("id", "")) for c in communities]}


def _bare(question: str) -> str:
    return question.strip(" ?？؟¿")


# -------------------------------------------------------------------------------------- aggregation
def _facts(question: str, answered: Sequence[Json], valid: set[str]) -> list[Json]:
    """Return the distinct cited lines that together answer the question, each with its chunks.

    None at all when not even the closest one has to do with the question.
    """
    support: dict[str, list[str]] = {}
    around: dict[str, str] = {}
    straight: list[str] = []
    for followup in sorted(answered, key=lambda f: f.get("question") != question):
        for citation in _items(followup, "citations"):
            text = plain(str(citation.get("span", "")))
            chunk_id = str(citation.get("chunk_id", ""))
            if not text or chunk_id not in valid:
                continue
            same = next((known for known in support if alike(known, text)), text)
            support.setdefault(same, []).append(chunk_id)
            around.setdefault(same, str(followup.get("answer")))
            straight += [same] if followup.get("question") == question else []

    texts = list(support)
    chosen = choose(question, texts, list(around.values()), MAX_FACTS)
    if not chosen or chosen[0][1] < ABOUT_IT:
        return []
    best = [texts[at] for at, score in chosen if score >= chosen[0][1] * NEAR_THE_BEST]
    return [
        {"fact": text, "citations": list(dict.fromkeys(support[text]))}
        for text in dict.fromkeys((*best, *straight))
    ][:MAX_FACTS]


def _brief(facts: Sequence[str]) -> str:
    """Return the first facts as one text of about ANSWER_LENGTH characters."""
    said = list(facts[:1])
    for fact in facts[1:ANSWER_LINES]:
        if sum(map(len, said)) + len(fact) <= ANSWER_LENGTH:
            said.append(fact)
    return _text(said)
