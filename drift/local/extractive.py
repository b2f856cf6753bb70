"""Answers without a language model: the best sentences of the prompt's own JSON blocks, word for word.

Every claim is grounded by construction: citations are exact slices of the chunks, and where nothing is close enough to
the question the answer says so. The same prompt always gets the same reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from drift.local.phrases import key_phrases, subject_words, topic
from drift.local.relevance import Found, Passage, affinity, alike, distinct, scores, search, terms

UNANSWERED = "The context does not answer this."

CLOSE_ENOUGH = 0.3
"""Score under which a sentence is no answer: unrelated questions score under 0.2, good answers from 0.45."""
NEAR_THE_BEST = 0.55
"""Further sentences are taken down to this share of the best one's score."""
CERTAIN = 0.8
"""Score from which the confidence is highest."""
CONTENT = 0.75
"""Confidence from which nothing more is asked."""
DOUBT = 0.2
"""Confidence of an answer that says it is none."""
FOLLOWUPS = 4
MOST_FACTS = 6
FEWEST_FACTS = 4
RELATED = 0.25
"""Score from which a cited sentence may stand among the fewest facts."""
ANSWER_SENTENCES = 3
ANSWER_LENGTH = 700

NEAR_COMMUNITY = 0.5
"""Communities are asked about down to this share of the closest one's affinity."""

_BLOCK = re.compile(r"^([^\n:`]+):\n```json\n(.*)\n```$", re.MULTILINE)

Json = dict[str, Any]


def reply(name: str, user: str) -> str:
    """Return the reply called `name` (contracts.md) to a user message.

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


# ---------------------------------------------------------------------------------------------------- the replies
def hypothesis(given: Json) -> str:
    """Restate the question as a statement with its key words."""
    question = str(given.get("Question", ""))
    about = ", ".join(subject_words(question))
    return f"The documents explain {topic(question)}. What they say concerns {about}." if about else UNANSWERED


def primer(given: Json) -> Json:
    """Answer from the sample chunks; ask the question itself, then what its communities add to it."""
    question = str(given.get("User question", ""))
    communities = _items(given, "Community details")
    samples = _items(given, "Sample chunks")
    best = _best(search(question, [_passage(chunk) for chunk in samples]), most=2)
    ranked = _ranked_communities(question, communities, samples)
    return {
        "initial_answer": _joined(best) or "The sample chunks do not answer this.",
        "followups": _first_followups(question, ranked),
        "rationale": "The question itself, and what the communities closest to it say beyond it.",
    }


def local(given: Json) -> Json:
    """Answer a follow-up with one to three sentences and where they stand."""
    followup = str(given.get("Follow-up question", ""))
    neighborhood = _object(given, "Graph neighbourhood")
    passages = [_passage(chunk) for chunk in (*_items(given, "Retrieved chunks"), *_items(neighborhood, "chunks"))]
    valid = _valid_ids(given)
    best = _best(search(followup, [p for p in {p.id: p for p in passages}.values() if p.id in valid]), most=3)
    confidence = _confidence(best)
    asking = _new_followups(given, neighborhood, followup) if confidence < CONTENT else []
    return {
        "answer": _joined(best) or UNANSWERED,
        "citations": [{"chunk_id": found.chunk_id, "span": found.sentence.span} for found in best],
        "new_followups": asking,
        "confidence": confidence,
        "should_continue": bool(asking),
    }


def aggregate(given: Json) -> Json:
    """Answer with the best sentences that the follow-ups cited; each of them is a key fact with its chunks."""
    question = str(given.get("User question", ""))
    tree = _object(given, "Q/A tree")
    followups = _items(tree, "followups")
    answered = [f for f in followups if _is_answered(f)]
    facts = _facts(question, answered, _valid_ids(given))
    said = _brief([fact["fact"] for fact in facts])
    open_ones = dict.fromkeys(str(f.get("question", "")) for f in followups if not _is_answered(f))
    return {
        "final_answer": " ".join(said) or UNANSWERED,
        "key_facts": facts,
        "residual_uncertainty": f"The text found does not answer: {' '.join(open_ones)}" if open_ones else "",
    }


REPLIES: Mapping[str, Callable[[Json], Json | str]] = {
    "hypothesis": hypothesis,
    "primer_reply": primer,
    "local_reply": local,
    "aggregate_reply": aggregate,
}


# ------------------------------------------------------------------------------------------------------ sentences
def _best(found: Sequence[Found], most: int) -> list[Found]:
    """Return the sentences worth saying; those of one chunk in the order of its text, the best one's chunk first."""
    least = max(CLOSE_ENOUGH, found[0].score * NEAR_THE_BEST) if found else CLOSE_ENOUGH
    kept = distinct((f for f in found if f.score >= least), most)
    order = {chunk_id: place for place, chunk_id in reversed(list(enumerate(f.chunk_id for f in kept)))}
    return sorted(kept, key=lambda f: (order[f.chunk_id], f.sentence.start))


def _joined(found: Sequence[Found]) -> str:
    return " ".join(_plain(f.sentence.text) for f in found)


def _plain(text: str) -> str:
    """Take off the marks of a sentence that is printed in bold as a whole."""
    return text[2:-2] if text.startswith("**") and text.endswith("**") else text


def _confidence(best: Sequence[Found]) -> float:
    """Return 0.4 to 0.95 for scores from CLOSE_ENOUGH to CERTAIN, 0.1 for no sentence at all."""
    if not best:
        return 0.1
    share = (max(f.score for f in best) - CLOSE_ENOUGH) / (CERTAIN - CLOSE_ENOUGH)
    return round(0.4 + 0.55 * min(1.0, share), 2)


# ----------------------------------------------------------------------------------------------------- follow-ups
def _ranked_communities(question: str, communities: Sequence[Json], samples: Sequence[Json]) -> list[tuple[str, str]]:
    """Return id and text of each community with its samples, closest to the question first."""
    texts = {str(c.get("id", "")): str(c.get("summary", "")) for c in communities}
    near = {i: affinity(question, text) for i, text in texts.items()}
    least = max(near.values(), default=0.0) * NEAR_COMMUNITY
    ranked = sorted((i for i in near if near[i] >= least), key=lambda i: -near[i])
    for sample in samples:
        if (community := str(sample.get("community", ""))) in texts:
            texts[community] += f"\n\n{sample.get('text', '')}"
    return [(i, texts[i]) for i in ranked]


def _first_followups(question: str, ranked: Sequence[tuple[str, str]]) -> list[Json]:
    """Return the question itself, then one question a community about its key phrase; always at least two."""
    followups: list[Json] = [{"question": question, "target_communities": [i for i, _ in ranked[:3]]}]
    used: list[str] = []
    for community, text in ranked:
        fresh = [p for p in key_phrases(text, question, 5) if not any(terms(p) & terms(u) for u in used)]
        if fresh and len(followups) < FOLLOWUPS:
            used.append(fresh[0])
            followups.append({"question": _about(fresh[0], question), "target_communities": [community]})
    if len(followups) == 1:
        followups.append({"question": f"What do the documents say about {topic(question)}?", "target_communities": []})
    return followups


def _new_followups(given: Json, neighborhood: Json, followup: str) -> list[Json]:
    """Return up to two questions about entities that are close to the user question and were not asked about yet."""
    question = str(given.get("User question", ""))
    asked = terms(f"{question} {followup}")
    communities = _items(given, "Communities")
    entities = {str(e.get("title", "")): str(e.get("description") or "") for e in _items(neighborhood, "entities")}
    near = {
        title: affinity(question, f"{title}. {description}")
        for title, description in entities.items()
        if terms(title) - asked
    }
    chosen = sorted((t for t in near if near[t] >= CLOSE_ENOUGH), key=lambda t: (-near[t], t))[:2]
    return [
        {
            "question": _about(title, question),
            "target_communities": [i for i, _ in _ranked_communities(title, communities, ())[:2]],
        }
        for title in chosen
    ]


def _about(phrase: str, question: str) -> str:
    return f"What do the documents say about {phrase} and {topic(question)}?"


# ---------------------------------------------------------------------------------------------------- aggregation
def _is_answered(followup: Json) -> bool:
    confidence = followup.get("confidence")
    answer = str(followup.get("answer") or "")
    return answer not in ("", UNANSWERED) and (not isinstance(confidence, int | float) or confidence > DOUBT)


def _facts(question: str, answered: Sequence[Json], valid: set[str]) -> list[Json]:
    """Return up to six distinct cited sentences, closest to the question first, each with all chunks that support it.

    None at all when not even the closest one has to do with the question.
    """
    support: dict[str, list[str]] = {}
    for followup in answered:
        for citation in _items(followup, "citations"):
            text = _plain(" ".join(str(citation.get("span", "")).split()))
            chunk_id = str(citation.get("chunk_id", ""))
            if text and chunk_id in valid:
                same = next((known for known in support if alike(known, text)), text)
                support.setdefault(same, [])
                support[same] += [chunk_id] if chunk_id not in support[same] else []
    rated = dict(zip(support, scores(question, list(support)), strict=True))
    ranked = sorted(rated, key=lambda text: -rated[text])
    if not ranked or rated[ranked[0]] < CLOSE_ENOUGH:
        return []
    near = [text for text in ranked if rated[text] >= rated[ranked[0]] * NEAR_THE_BEST]
    few = [text for text in ranked[:FEWEST_FACTS] if rated[text] >= RELATED]
    return [{"fact": text, "citations": support[text]} for text in max(near, few, key=len)[:MOST_FACTS]]


def _brief(facts: Sequence[str]) -> list[str]:
    """Return the first facts, up to ANSWER_SENTENCES of them and about ANSWER_LENGTH characters."""
    said: list[str] = []
    for fact in facts[:ANSWER_SENTENCES]:
        if said and sum(map(len, said)) + len(fact) > ANSWER_LENGTH:
            break
        said.append(fact)
    return said


# ----------------------------------------------------------------------------------------------------- JSON values
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
    return Passage(str(chunk.get("id", "")), str(chunk.get("document", "")), str(chunk.get("text", "")))
