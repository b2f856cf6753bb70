"""Answers without a language model: the best lines of the prompt's own JSON blocks, word for word.

Every claim is grounded by construction: citations are exact slices of the chunks, and where nothing
is close enough to the question the answer says so. The same prompt always gets the same reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from drift.offline.model_server.lines import Line, plain
from drift.offline.model_server.relevance import (
    Found,
    Passage,
    affinity,
    alike,
    choose,
    search,
    terms,
)

UNANSWERED = "The context does not answer this."

CLOSE_ENOUGH = 0.31
"""Score from which a line is an answer: unrelated questions, most of whose words stand in no line,
score under it."""
ABOUT_IT = 0.2
"""Score from which a line that answers a follow-up has to do with the question."""
NEAR_THE_BEST = 0.45
"""Further lines are taken down to this share of the best one's score."""
CERTAIN = 0.8
"""Score from which the confidence is highest."""
CONTENT = 0.75
"""Confidence from which nothing more is asked."""
NO_CONFIDENCE = 0.1
DOUBT = 0.2
"""Confidence of an answer that says it is none."""

FOLLOWUPS = 4
LOCAL_LINES = 4
MAX_FACTS = 6
ANSWER_LINES = 4
ANSWER_LENGTH = 700
ABOUT = 80
"""Characters of a community's first line that a question about it names."""
NEAR_COMMUNITY = 0.5
"""Communities are asked about down to this share of the closest one's affinity."""

_BLOCK = re.compile(r"^([^\n:`]+):\n```json\n(.*)\n```$", re.MULTILINE)

Json = dict[str, Any]


def reply(name: str, user: str) -> str:
    """Return the reply called `name` to a user message.

    Raises:
        KeyError: when there is no reply of that name.
    """
    write = REPLIES[name]
    made = write(blocks(user))
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


# -------------------------------------------------------------------------------------- the replies
def hypothesis(given: Json) -> str:
    """Return the question without its mark: what is known about its answer without a model."""
    return _bare(str(given.get("Question", ""))) or UNANSWERED


def primer(given: Json) -> Json:
    """Answer from the sample chunks.

    Ask the question itself, then with what its communities are about.
    """
    question = str(given.get("User question", ""))
    best = _answering(
        search(question, [_passage(chunk) for chunk in _items(given, "Sample chunks")], most=2)
    )
    return {
        "initial_answer": _joined(best) or "The sample chunks do not answer this.",
        "followups": _first_followups(
            question, _ranked(question, _items(given, "Community details"))
        ),
        "rationale": "The question itself, and the communities closest to it.",
    }


def local(given: Json) -> Json:
    """Answer a follow-up with up to LOCAL_LINES lines and where they stand."""
    followup = str(given.get("Follow-up question", ""))
    neighbourhood = _object(given, "Graph neighbourhood")
    passages = [
        _passage(chunk)
        for chunk in (*_items(given, "Retrieved chunks"), *_items(neighbourhood, "chunks"))
    ]
    valid = _valid_ids(given)
    found = search(
        followup, [p for p in {p.id: p for p in passages}.values() if p.id in valid], LOCAL_LINES
    )
    best = _answering(found)
    confidence = _confidence(found[0].score) if best else NO_CONFIDENCE
    asking = _new_followups(given, neighbourhood, followup, best) if confidence < CONTENT else []
    return {
        "answer": _joined(best) or UNANSWERED,
        "citations": [{"chunk_id": found.chunk_id, "span": found.line.span} for found in best],
        "new_followups": asking,
        "confidence": confidence,
        "should_continue": bool(asking),
    }


def aggregate(given: Json) -> Json:
    """Answer with the best lines that the follow-ups cited.

    Each of them is a key fact with its chunks.
    """
    question = str(given.get("User question", ""))
    followups = _items(_object(given, "Q/A tree"), "followups")
    answered = [f for f in followups if _is_answered(f)]
    facts = _facts(question, answered, _valid_ids(given))
    open_ones = dict.fromkeys(str(f.get("question", "")) for f in followups if not _is_answered(f))
    return {
        "final_answer": _brief([fact["fact"] for fact in facts]) or UNANSWERED,
        "key_facts": facts,
        "residual_uncertainty": f"The text found does not answer: {' '.join(open_ones)}"
        if open_ones
        else "",
    }


REPLIES: Mapping[str, Callable[[Json], Json | str]] = {
    "hypothesis": hypothesis,
    "primer_reply": primer,
    "local_reply": local,
    "aggregate_reply": aggregate,
}


# -------------------------------------------------------------------------------------------- lines
def _answering(found: Sequence[Found]) -> list[Found]:
    """Return the lines worth saying, those of one chunk in the order of its text."""
    if not found or found[0].score < CLOSE_ENOUGH:
        return []
    kept = [f for f in found if f.score >= found[0].score * NEAR_THE_BEST]
    order = {
        chunk_id: place for place, chunk_id in reversed(list(enumerate(f.chunk_id for f in kept)))
    }
    return sorted(kept, key=lambda f: (order[f.chunk_id], f.place))


def _joined(found: Sequence[Found]) -> str:
    """Return the lines as one text; what is no sentence is introduced by its heading."""
    return _text(
        [
            f.line.text if f.line.whole or not f.line.under else f"{f.line.under}: {f.line.text}"
            for f in found
        ]
    )


def _confidence(score: float) -> float:
    """Return 0.3 to 0.95 for the best line's score from CLOSE_ENOUGH to CERTAIN."""
    share = (score - CLOSE_ENOUGH) / (CERTAIN - CLOSE_ENOUGH)
    return round(0.3 + 0.65 * min(1.0, share), 2)


# --------------------------------------------------------------------------------------- follow-ups
def _ranked(question: str, communities: Sequence[Json]) -> list[Json]:
    """Return the communities closest to a question, the closest first."""
    near = [affinity(question, str(community.get("summary", ""))) for community in communities]
    least = max(near, default=0.0) * NEAR_COMMUNITY
    order = sorted(range(len(near)), key=lambda at: -near[at])
    return [communities[at] for at in order if near[at] >= least]


def _first_followups(question: str, communities: Sequence[Json]) -> list[Json]:
    """Return the question itself, then with what each of the closest communities is about.

    Always at least two.
    """
    followups = [_followup(question, communities[:3])]
    for community in communities[: FOLLOWUPS - 1]:
        about = str(community.get("summary", "")).split("\n", 1)[0][:ABOUT]
        followups.append(_followup(f"{question} ({about})", [community]))
    return followups if len(followups) > 1 else [*followups, _followup(_bare(question), [])]


def _new_followups(
    given: Json, neighbourhood: Json, followup: str, best: Sequence[Found]
) -> list[Json]:
    """Return up to two questions about entities that are close to what was found and were not asked about yet."""
    question = str(given.get("User question", ""))
    asked = terms(f"{question} {followup}")
    so_far = " ".join((question, *(found.line.text for found in best)))
    near = {
        title: affinity(so_far, f"{title}. {entity.get('description') or ''}")
        for entity in _items(neighbourhood, "entities")
        if terms(title := str(entity.get("title", ""))) - asked
    }
    chosen = sorted((t for t in near if near[t] >= CLOSE_ENOUGH), key=lambda t: (-near[t], t))[:2]
    communities = _items(given, "Communities")
    return [_followup(f"{question} ({title})", _ranked(title, communities)[:2]) for title in chosen]


def _followup(question: str, communities: Sequence[Json]) -> Json:
    return {"question": question, "target_communities": [str(c.get("id", "")) for c in communities]}


def _bare(question: str) -> str:
    return question.strip(" ?？؟¿")  # noqa: RUF001 - question marks as they are written


# -------------------------------------------------------------------------------------- aggregation
def _is_answered(followup: Json) -> bool:
    confidence = followup.get("confidence")
    answer = str(followup.get("answer") or "")
    return answer not in ("", UNANSWERED) and (
        not isinstance(confidence, int | float) or confidence > DOUBT
    )


def _facts(question: str, answered: Sequence[Json], valid: set[str]) -> list[Json]:
    """Return the distinct cited lines that together answer the question, each with all chunks that support it.

    What answers the question itself comes first, in its order; then what other follow-ups add.

    None at all when not even the closest one has to do with the question.
    """
    support: dict[str, list[str]] = {}
    around: dict[str, tuple[str, str]] = {}
    for followup in sorted(answered, key=lambda f: f.get("question") != question):
        for citation in _items(followup, "citations"):
            text = plain(str(citation.get("span", "")))
            chunk_id = str(citation.get("chunk_id", ""))
            if text and chunk_id in valid:
                same = next((known for known in support if alike(known, text)), text)
                own = support.setdefault(same, [])
                own += [chunk_id] if chunk_id not in own else []
                around.setdefault(
                    same, (str(followup.get("question")), str(followup.get("answer")))
                )
    texts = list(support)
    chosen = choose(question, texts, [answer for _, answer in around.values()], MAX_FACTS)
    if not chosen or chosen[0][1] < ABOUT_IT:
        return []
    straight = [at for at, (asked, _) in enumerate(around.values()) if asked == question]
    others = [at for at, score in chosen if score >= chosen[0][1] * NEAR_THE_BEST]
    kept = list(dict.fromkeys((*others, *straight)))[:MAX_FACTS]
    return [{"fact": texts[at], "citations": support[texts[at]]} for at in kept]


def _brief(facts: Sequence[str]) -> str:
    """Return the first facts as one text of about ANSWER_LENGTH characters."""
    said = list(facts[:1])
    for fact in facts[1:ANSWER_LINES]:
        if sum(map(len, said)) + len(fact) <= ANSWER_LENGTH:
            said.append(fact)
    return _text(said)


def _text(said: Sequence[str]) -> str:
    """Return lines as one text; what does not end as a sentence does is set off."""
    return " ".join(one if Line(one, one).whole or one == said[-1] else f"{one};" for one in said)


# -------------------------------------------------------------------------------------- JSON values
def _object(given: Json, label: str) -> Json:
    """Return an object; anything else counts as an empty one."""
    value = given.get(label)
    return value if isinstance(value, dict) else {}


def _valid_ids(given: Json) -> set[str]:
    value = given.get("Valid chunk ids")
    return {str(i) for i in value} if isinstance(value, list) else set()


def _items(given: Json, label: str) -> list[Json]:
    """Return the objects of a list; anything else counts as none."""
    value = given.get(label)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _passage(chunk: Json) -> Passage:
    return Passage(
        str(chunk.get("id", "")), str(chunk.get("document", "")), str(chunk.get("text", ""))
    )
