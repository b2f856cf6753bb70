"""Each prompt that is sent to a model, as a function of values.

It has its rules as system text (drift/prompting/rules.py), and one user message. Data stands in
tags (drift/prompting/markup.py), which retrieved text cannot close. The question stands before the
data and again after it, where an executor has its follow-ups.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from drift.contracts.final_replies import AggregateReply, QuickReply, WholeReply
from drift.contracts.replies import (
    JointReply,
    LastJointReply,
    LastReply,
    LocalReply,
    PrimerReply,
    StandaloneReply,
)
from drift.contracts.strict_schema import strict_schema
from drift.model.calls import Prompt
from drift.prompting.elements import Context
from drift.prompting.markup import element, plain
from drift.prompting.rules import (
    AGGREGATE_SYSTEM,
    HYPOTHESIS_SYSTEM,
    PRIMER_SYSTEM,
    QUICK_SYSTEM,
    RAG_SYSTEM,
    STANDALONE_SYSTEM,
    WHOLE_SYSTEM,
    executor_system,
)


def _message(*elements: str) -> str:
    return "\n\n".join(element for element in elements if element)


def _asking(question: str, *elements: str) -> str:
    """Return a message with the question before its elements and again behind them."""
    before, again = (element(tag, plain(question)) for tag in ("question", "question_again"))
    return _message(before, *elements, again)


def _group(tag: str, rows: Sequence[str]) -> str:
    return element(tag, "\n".join(rows)) if rows else ""


def standalone(question: str, said: Sequence[str]) -> Prompt:
    """Ask for a question as it would be asked alone; `said` are elements, the oldest first."""
    user = _asking(question, _group("conversation", said))
    return _prompt("standalone_reply", STANDALONE_SYSTEM, user, StandaloneReply)


def hypothesis(question: str) -> Prompt:
    """Ask for a hypothetical answer paragraph (HyDE, Gao et al. 2022, arXiv:2212.10496)."""
    user = f"{element('question', plain(question))}\n\nHypothetical answer paragraph:"
    return Prompt("hypothesis", HYPOTHESIS_SYSTEM, user)


def primer(
    question: str,
    communities: Sequence[str],
    samples: Sequence[str],
    candidates: Sequence[str] = (),
) -> Prompt:
    """Ask for an initial answer and follow-ups; candidates are lines, the others are elements."""
    user = _asking(
        question,
        _group("communities", communities),
        _group("samples", samples),
        _group("candidates", candidates),
    )
    return _prompt("primer_reply", PRIMER_SYSTEM, user, PrimerReply)


def local(question: str, followups: Sequence[str], given: Context, *, last: bool = False) -> Prompt:
    """Ask one follow-up, or several at once; in the `last` pass no new ones are asked for."""
    names, joint = "; ".join(given.names), len(followups) > 1
    asking = [
        element("followup", plain(text), id=f"Q{number}" if joint else None)
        for number, text in enumerate(followups, start=1)
    ]
    user = _message(
        element("question", plain(question)),
        _group("asked", given.asked),
        element("names", names) if names else "",
        _group("graph", given.graph),
        _group("chunks", given.chunks),
        _group("followups", asking),
    )
    system = executor_system(given, joint=joint, last=last)
    if joint:
        return _prompt("joint_reply", system, user, LastJointReply if last else JointReply)
    return _prompt("local_reply", system, user, LastReply if last else LocalReply)


def quick(question: str, chunks: Sequence[str]) -> Prompt:
    """Ask the user's question itself of what it found; chunks are elements."""
    user = _asking(question, _group("chunks", chunks))
    return _prompt("quick_reply", QUICK_SYSTEM, user, QuickReply)


def whole(question: str, topics: Sequence[str], chunks: Sequence[str]) -> Prompt:
    """Ask a question about all documents of some topics, and of chunks; both are elements."""
    user = _asking(question, _group("topics", topics), _group("chunks", chunks))
    return _prompt("whole_reply", WHOLE_SYSTEM, user, WholeReply)


def rag(question: str, nodes: Sequence[str]) -> Prompt:
    """Ask a question of the nodes nearest to it, which are elements; the answer is plain text."""
    user = _asking(question, _group("context", nodes))
    return Prompt("rag_answer", RAG_SYSTEM, user)


def aggregate(question: str, findings: Sequence[str], unanswered: Sequence[str]) -> Prompt:
    """Ask for the final answer from the tree of findings, and what could not be answered."""
    user = _asking(question, _group("findings", findings), _group("unanswered", unanswered))
    return _prompt("aggregate_reply", AGGREGATE_SYSTEM, user, AggregateReply)


def _prompt(name: str, system: str, user: str, reply: type[BaseModel]) -> Prompt:
    return Prompt(name, system, user, strict_schema(reply))


def corrected(prompt: Prompt, reply: str, problem: str) -> Prompt:
    """Ask again, with the reply that could not be used, and the problem."""
    user = _message(
        prompt.user,
        element("previous_reply", plain(reply)),
        element("problem", plain(problem)),
        "The previous reply could not be used. Reply again, with valid JSON of the requested shape"
        " and nothing else.",
    )
    return Prompt(prompt.name, prompt.system, user, prompt.schema)
