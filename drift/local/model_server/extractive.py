"""Answers without a language model: the best lines of the prompt's own chunks, word for word.

Every claim is grounded by construction: a citation names the sentences that a line stands in, each
sentence of an answer has the numbers of its facts, and where nothing is close enough to the
question the reply says so. The same prompt always gets the same reply.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drift.core.sentence_ends import ends_in_a_stop, split_sentences
from drift.evidence.text import is_same_question
from drift.local.model_server import indexing
from drift.local.model_server.conversation import standalone
from drift.local.model_server.lines import Line, lines, plain, unwrapped
from drift.local.model_server.relevance import affinity, alike, choose, terms
from drift.local.prompt_elements import Element, element, elements
from drift.model.reading import ABOUT_PROJECT

UNANSWERED = "The context does not answer this."

CLOSE_ENOUGH = 0.31
"""Score from which a line is an answer; most words of an unrelated question stand in no line."""
ABOUT_IT = 0.2
"""Score from which a line that answers a follow-up has to do with the question."""
NEAR_THE_BEST = 0.45
"""Further lines, and communities to ask about, are taken down to this share of the best score."""
CERTAIN = 0.8
"""Score from which the confidence is highest."""
ENOUGH = 0.7
"""Score of what is known of the whole, where that is asked for."""
CONTENT = 0.75
"""Confidence from which nothing more is asked."""
NO_CONFIDENCE = 0.1

FOLLOWUPS = 4
LOCAL_LINES = 4
QUICK_LINES = 2
"""A large model's quick answers are as short (docs/benchmarks.md)."""
MAX_FACTS = 6
ANSWER_LINES = 4
ANSWER_LENGTH = 700
ABOUT = 80
"""Characters of a community's first line that a question about it names."""

_FACT = re.compile(r"\[(\d+)\] (?!as above$)(.*?)(?: \((?:[^()]|\([^()]*\))*\))?$")
"""A numbered fact, and behind it where it stands; names of documents may have brackets too."""
_NODE = re.compile(r"\[Node (?P<number>\d+)\] (?P<title>.*?): ")
"""How a node of a prompt begins."""
_SAID_BY = re.compile(r" \([^()]*\)$")
"""The document behind a line of the graph, the reason behind a question without an answer."""
_ABOUT_WHOLE = re.compile(
    r"\b(?:how many|what|which|list|summar\w+)\b.*"
    r"\b(?:all|the|these|this|whole|your) (?:collection|corpus|documents|files|project|texts)"
    r"(?: about)?\W*$",
    re.IGNORECASE | re.DOTALL,
)
"""A question about all documents together, in English; a language model needs no such pattern."""
_POSITIONS = {
    "beginning": re.compile(r"\b(?:how|wie)\b.*\b(?:begins?|beginnt)\W*$", re.IGNORECASE),
    "end": re.compile(r"\b(?:how|wie)\b.*\b(?:ends?|endet)\W*$", re.IGNORECASE),
}
"""A question that ends in its verb; a language model needs no such pattern."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ScoredLine:
    """A line, the numbered sentence that it stands in, and how well it answers (0 to 1)."""

    line: Line
    chunk_id: str
    number: int
    sentence: str
    score: float


def reply(name: str, user: str) -> str:
    """Return the reply called `name` to a user message; a KeyError where there is none."""
    made = REPLIES[name](user)
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


# -------------------------------------------------------------------------------------- the replies
def hypothesis(user: str) -> str:
    """Return the question without its mark: what is known about its answer without a model.

    An agent's prompt has no question of this kind: it is answered with lines of its `<context>`.
    """
    return _bare(_question(user)) or _of_context(user) or UNANSWERED


def _of_context(user: str) -> str:
    told = element(user, "context").content
    question = user.rpartition("</context>")[2].rpartition("\n\n")[2]  # the last message
    source = Element({"id": "context", "document": ""})
    best = _answering(question, [({1: told}, source)], LOCAL_LINES)
    return "\n".join(found.line.text for found in best)


def primer(user: str) -> Json:
    """Answer from the samples, and ask the question itself and with each close community."""
    question = _question(user)
    communities = _closest(question, elements(user, "community"))
    followups = [_followup(question, communities[:3])]
    for community in communities[: FOLLOWUPS - 1]:
        about = community.lines()[0][:ABOUT]
        followups.append(_followup(f"{question} ({about})", [community]))

    if len(followups) == 1:
        followups.append(_followup(_bare(question), []))

    at: Json = {"read": [], "position": _position(question), "document": ""}
    samples = [({1: sample.content}, sample) for sample in elements(user, "sample")]
    best = _answering(question, samples, most=2)
    return {
        "about_whole": _is_about_whole(question),
        "initial_answer": _text([found.line.text for found in best])
        or "The samples do not answer this.",
        "followups": [followup | at for followup in followups],
        "rationale": "The question itself, and the communities closest to it.",
    }


def local(user: str) -> Json:
    """Answer a follow-up with a few lines and where they stand."""
    return _answered(user, element(element(user, "followups").content, "followup").content)


def joint(user: str) -> Json:
    """Answer several follow-ups, each as if it were asked alone."""
    asked = elements(element(user, "followups").content, "followup")
    return {"answers": [{"followup": one["id"], **_answered(user, one.content)} for one in asked]}


def _answered(user: str, followup: str) -> Json:
    chunks = [(chunk.sentences(), chunk) for chunk in elements(user, "chunk")]
    best = _answering(followup, chunks, LOCAL_LINES)
    is_found = _has_to_do(_question(user), [found.line.text for found in best])

    confidence = _confidence(best[0].score) if best else NO_CONFIDENCE
    asking = _new_followups(user, followup, best) if best and confidence < CONTENT else []
    return {
        "citations": _citations(best),
        "verdict": _verdict(confidence) if is_found else "not_found",
        "answer": _text([found.line.text for found in best]) or UNANSWERED,
        "confidence": confidence,
        "new_followups": asking,
    }


def _has_to_do(question: str, texts: Sequence[str]) -> bool:
    """Tell whether a line has to do with the user's own question, not its follow-up alone."""
    chosen = choose(question, texts, [""] * len(texts), 1)
    return bool(chosen) and chosen[0][1] >= ABOUT_IT


def _citations(best: Sequence[ScoredLine]) -> list[Json]:
    """Return where lines stand; two lines of one sentence are one citation."""
    named = {(found.chunk_id, str(found.number)): found.sentence for found in best}
    return [
        {"chunk_id": chunk_id, "sentences": number, "words": " ".join(sentence.split()[:4])}
        for (chunk_id, number), sentence in named.items()
    ]


def _verdict(confidence: float) -> str:
    return "answered" if confidence >= CONTENT else "partly"


def quick(user: str) -> Json:
    """Answer the question itself with a few lines of the chunks, each with its place."""
    chunks = [(chunk.sentences(), chunk) for chunk in elements(user, "chunk")]
    question = _question(user)
    best = _of_whole(question, chunks) or _answering(question, chunks, QUICK_LINES)
    places = list(dict.fromkeys(f"{found.chunk_id}.{found.number}" for found in best))

    confidence = _confidence(best[0].score) if best else NO_CONFIDENCE
    said = [
        one
        for found in best
        for one in _said(found.line.text, places.index(f"{found.chunk_id}.{found.number}") + 1)
    ]

    return {
        "about_whole": _is_about_whole(question),
        "position": _position(question),
        "evidence": places,
        "verdict": _verdict(confidence) if best else "not_found",
        "sentences": said,
        "confidence": confidence,
        "residual_uncertainty": "",
    }


def aggregate(user: str) -> Json:
    """Answer with the best facts, word for word, each sentence with the numbers of its facts."""
    findings = elements(user, "finding")
    quoted = _quoted(_question(user), findings)

    used = {number for _, numbers in quoted for number in numbers}
    told = [f["confidence"] for f in findings if used.intersection(dict(_facts(f)))]
    sure = [float(one) for one in told if one.replace(".", "", 1).isdecimal()]
    rows = (_SAID_BY.sub("", row) for row in element(user, "unanswered").content.split("\n"))
    others = (row for row in rows if not is_same_question(row, _question(user)))
    still_open = " ".join(dict.fromkeys(others))

    return {
        "verdict": _verdict(max(sure, default=0.0)) if quoted else "not_found",
        "sentences": [one for text, numbers in quoted for one in _said(text, *numbers)],
        "residual_uncertainty": f"The text found does not answer: {still_open}"
        if still_open
        else "",
    }


def rag(user: str) -> str:
    """Answer with a few lines of the nodes, each with the number of its node."""
    texts = []
    for node in elements(user, "node"):
        if begins := _NODE.match(node.content):
            text = node.content[begins.end() :].partition("\nRelated: ")[0]
            title = {"id": begins["number"], "document": begins["title"]}
            texts.append(({1: text.replace("\n   ", "\n")}, Element(title)))

    best = _answering(_question(user), texts, LOCAL_LINES)
    said = (f"{found.line.text} [Node {found.chunk_id}]" for found in best)
    return "\n".join(said) or "I don't have enough information"


REPLIES: Mapping[str, Callable[[str], Json | str]] = {
    "standalone_reply": standalone,
    "hypothesis": hypothesis,
    "primer_reply": primer,
    "local_reply": local,
    "joint_reply": joint,
    "aggregate_reply": aggregate,
    "quick_reply": quick,
    "whole_reply": quick,
    "rag_answer": rag,
    "report_reply": indexing.report,
    "facts_reply": indexing.facts,
}


def _question(user: str) -> str:
    return element(user, "question").content


# -------------------------------------------------------------------------------------------- lines
def _answering(
    question: str, texts: Sequence[tuple[Mapping[int, str], Element]], most: int
) -> list[ScoredLine]:
    """Return the lines of numbered sentences that answer a question, the best one first."""
    places = [
        (source, line, number, sentence)
        for sentences, source in texts
        for number, sentence, line in _numbered_lines(sentences)
    ]
    around = [f"{source['document']} {line.under}" for source, line, _, _ in places]
    chosen = choose(question, [line.text for _, line, _, _ in places], around, most)
    if not chosen or chosen[0][1] < CLOSE_ENOUGH:
        return []

    least = chosen[0][1] * NEAR_THE_BEST
    found = []
    for at, score in chosen:
        source, line, number, sentence = places[at]
        found.append(ScoredLine(line, source["id"], number, sentence, score))

    return [one for one in found if one.score >= least]


def _numbered_lines(sentences: Mapping[int, str]) -> Iterator[tuple[int, str, Line]]:
    """Yield what can be quoted of a text, each with the sentence that it stands in."""
    starts: list[int] = []
    text = ""
    for sentence in sentences.values():
        starts.append(len(text))
        text += f"{unwrapped(sentence)}\n\n"

    numbers, at = list(sentences), 0
    for line in lines(text):
        at = max(at, text.find(line.span, at))
        number = numbers[bisect_right(starts, at) - 1]
        yield number, sentences[number], line


def _is_about_whole(question: str) -> bool:
    return _ABOUT_WHOLE.search(question) is not None


def _of_whole(
    question: str, texts: Sequence[tuple[Mapping[int, str], Element]]
) -> list[ScoredLine]:
    """Return counts, names and the last line of what is known of the whole, if it is asked for."""
    if not _is_about_whole(question):
        return []
    return [
        ScoredLine(Line(said, said.removeprefix("- ")), source["id"], number, said, ENOUGH)
        for sentences, source in texts
        if source["document"] == ABOUT_PROJECT
        for number, said in sentences.items()
        if number in {1, 2, len(sentences)}
    ]


def _text(said: Sequence[str]) -> str:
    """Return lines as one text; what does not end as a sentence does is set off."""
    return " ".join(one if Line(one, one).whole else f"{one};" for one in said).rstrip(";")


def _confidence(score: float) -> float:
    """Return 0.3 to 0.95 for the best line's score from CLOSE_ENOUGH to CERTAIN."""
    share = (score - CLOSE_ENOUGH) / (CERTAIN - CLOSE_ENOUGH)
    return round(0.3 + 0.65 * min(1.0, share), 2)


# --------------------------------------------------------------------------------------- follow-ups
def _closest(question: str, communities: Sequence[Element]) -> list[Element]:
    """Return the communities closest to a question, the closest first."""
    near = [(affinity(question, community.content), community) for community in communities]
    near.sort(key=lambda pair: -pair[0])
    return [c for closeness, c in near if closeness >= near[0][0] * NEAR_THE_BEST]


def _new_followups(user: str, followup: str, best: Sequence[ScoredLine]) -> list[Json]:
    """Return up to two questions about things close to what was found, not asked about yet."""
    question = _question(user)
    before = elements(element(user, "asked").content, "followup")
    asked = terms(" ".join((question, followup, *(one.lines()[0] for one in before))))
    so_far = " ".join((question, *(found.line.text for found in best)))
    near = []
    for line in element(user, "graph").lines():
        ends, _, said = _SAID_BY.sub("", line).partition(": ")
        closeness = affinity(so_far, f"{ends}. {said}")
        if closeness >= CLOSE_ENOUGH:
            near += [(-closeness, end) for end in ends.split(" - ") if terms(end) - asked]

    chosen = list(dict.fromkeys(end for _, end in sorted(near)))[:2]
    return [{"question": f"{question} ({end})", "beside": ""} for end in chosen]


def _followup(question: str, communities: Sequence[Element]) -> Json:
    return {"question": question, "target_communities": [c["id"] for c in communities]}


def _position(question: str) -> str:
    return next((said for said, asks in _POSITIONS.items() if asks.search(question)), "")


def _bare(question: str) -> str:
    return question.strip(" ?？؟¿")


# -------------------------------------------------------------------------------------- aggregation
def _facts(finding: Element, behind: str = "") -> list[tuple[int, str]]:
    """Return the facts of a finding that are told there, without their documents and places.

    A cell that only ends what another row begins is left out. Only those of rows with these words
    `behind` them.
    """
    _, _, *rows = (*finding.lines(), "", "")
    told = filter(None, (_FACT.match(row) for row in rows if row.endswith(behind)))
    facts = []
    for fact in told:
        text = fact[2]
        if text.count("**") % 2:  # the next sentence would close it
            text = text.replace("**", "")
        if text.count(")") <= text.count("("):
            facts.append((int(fact[1]), text))

    return facts


def _quoted(question: str, findings: Sequence[Element]) -> list[tuple[str, list[int]]]:
    """Return the lines that together answer a question, each with the facts that say it.

    Those of the question itself come first. None at all when not even the closest one has to do
    with the question.
    """
    if whole := [
        (text.removeprefix("- "), [number])
        for finding in findings
        for number, text in _facts(finding, f"({ABOUT_PROJECT})")
    ]:
        return whole

    said_by: dict[str, list[int]] = {}
    around: dict[str, str] = {}
    straight: list[str] = []
    for finding in sorted(findings, key=lambda one: one.lines()[0] != question):
        asked, answer, *_ = (*finding.lines(), "", "")
        for number, fact in _facts(finding):
            for text in [line.text for line in lines(fact)] or [plain(fact)]:
                same = next((known for known in said_by if alike(known, text)), text)
                said_by.setdefault(same, []).append(number)
                around.setdefault(same, answer)
                straight += [same] if asked == question else []

    texts = list(said_by)
    chosen = choose(question, texts, list(around.values()), MAX_FACTS)
    if not chosen or chosen[0][1] < ABOUT_IT:
        return []

    best = [texts[at] for at, score in chosen if score >= chosen[0][1] * NEAR_THE_BEST]
    kept: list[str] = []
    for text in list(dict.fromkeys((*best, *straight)))[:ANSWER_LINES]:
        if not kept or sum(map(len, kept)) + len(text) <= ANSWER_LENGTH:
            kept.append(text)

    return [(text, said_by[text]) for text in kept]


def _said(text: str, *numbers: int) -> list[list[str | int]]:
    """Return the sentences of a line, each with the numbers of its facts."""
    named = tuple(dict.fromkeys(numbers))
    return [
        [said if ends_in_a_stop(said) else f"{said}.", *named] for said in split_sentences(text)
    ]
