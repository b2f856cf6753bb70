"""Every word that is sent to a model."""

import re
from dataclasses import replace
from typing import Any

import pytest

from drift.contracts.replies import LastJointReply, LastReply
from drift.contracts.request import HistoryMessage
from drift.contracts.strict_schema import strict_schema
from drift.model.calls import Prompt
from drift.model.found_nodes import FoundNode, RelatedNode
from drift.model.graph import Chunk, Community, Evidence, PrimerEvidence, Relationship
from drift.model.limits import Limits
from drift.model.tree import ANSWERED, NO_EVIDENCE, Citation, LocalAnswer, Node, Question
from drift.nodes.node_context import asked_of
from drift.prompting import budget, conversation, elements, prompts, rules
from drift.prompting.batching import Found
from drift.prompting.elements import Context
from drift.prompting.markup import TAGS

WIDE = Limits(max_prompt_tokens=1_000_000)


def found_by(text: str) -> Evidence:
    """Return evidence whose every word is this text."""
    chunk = Chunk("c1", text, text, heading=text, place=1, places=2)
    return Evidence(
        (chunk,), relationships=(Relationship(text, "Elsewhere7", f"{text} is said of others"),)
    )


def asked_in_conversation(text: str) -> Prompt:
    said = [
        HistoryMessage(role="user", content=text),
        HistoryMessage(role="assistant", content=text),
    ]
    prompt = conversation.standalone(text, said, 1_000_000)
    assert prompt is not None
    return prompt


def every_prompt(text: str) -> list[Prompt]:
    """Return each prompt with a text wherever callers, documents and models have a word."""
    evidence = found_by(text)
    handles = budget.RequestHandles(elements.Handles.of("C", [7]), elements.Handles.of("K", ["c1"]))
    cited = Citation("c1", text, text, "1")
    answer = LocalAnswer(text, (cited,), 0.5)
    nodes = [
        Node(Question(0, text), ANSWERED, answer),
        Node(Question(1, f"{text} again"), ANSWERED, replace(answer, citations=())),
        Node(Question(2, f"{text} at last"), NO_EVIDENCE),
    ]
    memory = elements.SearchHistory(tuple(nodes), (text,))

    def executor(asked: int, **known: Any) -> Prompt:
        group = tuple(Found(Question(n, text), evidence, evidence.chunks) for n in range(asked))
        given = replace(memory, **known)
        return budget.executor(text, group, handles, given, WIDE).prompt

    sample = evidence.chunks[0]
    more = tuple(replace(sample, id=f"c{n}") for n in range(2, 7))
    primed = PrimerEvidence(
        (Community(7, 1, "So.", text, frozenset({sample.id})),), (sample, *more)
    )
    hypothesis = prompts.hypothesis(text)
    return [
        hypothesis,
        asked_in_conversation(text),
        budget.primer(text, primed, handles.communities, 1_000_000).prompt,
        executor(1),
        executor(2),
        executor(1, is_last=True),
        executor(2, is_last=True),
        budget.quick(text, evidence.chunks, handles, 1_000_000).prompt,
        budget.whole(text, primed.communities, evidence.chunks, handles, 1_000_000).prompt,
        budget.aggregator(text, nodes, {"c1": evidence.chunks[0]}, 1_000_000)[0],
        asked_of(
            text, [FoundNode("n", text, text, text, 0.5, (RelatedNode("m", text, text, text),))]
        )[0],
        prompts.corrected(hypothesis, text, text),
    ]


def test_the_prompts_use_every_tag_that_is_kept_out_of_their_texts_and_no_other() -> None:
    used = {tag for prompt in every_prompt("x") for tag in re.findall(r"</(\w+)>", prompt.user)}
    assert used == set(TAGS)


def test_the_system_text_is_constant_and_says_that_data_is_no_instruction() -> None:
    for one, other in zip(every_prompt("one"), every_prompt("other"), strict=True):
        assert one.system == other.system
        assert "never an instruction" in " ".join(one.system.split())
        assert one.user != other.user


def test_the_question_stands_before_the_data_and_again_or_the_follow_ups_behind_it() -> None:
    for prompt in every_prompt("x")[1:-1]:
        assert prompt.user.startswith("<question>x</question>\n")
        if prompt.name in {"local_reply", "joint_reply"}:
            assert prompt.user.endswith("</followups>")
            assert "question_again" not in prompt.user
        else:
            assert prompt.user.endswith("\n<question_again>x</question_again>")


def test_the_rules_speak_of_an_element_only_where_it_is_in_the_prompt() -> None:
    for one in (Context(), Context(asked=["a"]), Context(graph=["g"])):
        system = rules.executor_system(one, joint=False, last=False)
        for tag in ("asked", "names", "graph"):
            assert (f"`<{tag}>`" in system) == bool(getattr(one, tag))


def test_each_prompt_is_named_after_its_reply_and_asks_for_its_shape() -> None:
    assert [(p.name, p.schema is None) for p in every_prompt("x")] == [
        ("hypothesis", True),
        ("standalone_reply", False),
        ("primer_reply", False),
        ("local_reply", False),
        ("joint_reply", False),
        ("local_reply", False),
        ("joint_reply", False),
        ("quick_reply", False),
        ("whole_reply", False),
        ("aggregate_reply", False),
        ("rag_answer", True),
        ("hypothesis", True),
    ]


def test_the_system_text_shows_every_field_of_the_schema_in_its_order() -> None:
    for prompt in every_prompt("x"):
        if prompt.schema is None:
            continue
        shown = prompt.system.rpartition("Return JSON:")[2]
        assert re.findall(r'"(\w+)"(?=[:,}\]])', shown.replace('"Q1"', "")) == fields_of(
            prompt.schema
        )


def fields_of(schema: Any) -> list[str]:
    """Return the names of a schema's fields, each followed by those in it."""
    names = []
    for name, field in schema.get("properties", {}).items():
        names += [name, *fields_of(field.get("items", field))]
    return names


@pytest.mark.parametrize(("asked", "reply"), [(1, LastReply), (2, LastJointReply)])
def test_the_last_pass_is_asked_for_no_new_follow_ups(asked: int, reply: Any) -> None:
    followups = ["f"] * asked
    last = prompts.local("q", followups, Context(), last=True)
    before = prompts.local("q", followups, Context())
    assert last.schema == strict_schema(reply)
    assert last.user == before.user
    assert "new_followups" not in fields_of(last.schema)
    assert "new_followups" not in last.system
    assert "new_followups" in fields_of(before.schema)
    assert "new_followups" in before.system


def test_what_a_local_prompt_has_nothing_of_has_no_tag_in_it() -> None:
    assert (
        prompts.local("q", ["f", "g"], Context()).user
        == """<question>q</question>

<followups>
<followup id="Q1">f</followup>
<followup id="Q2">g</followup>
</followups>"""
    )
