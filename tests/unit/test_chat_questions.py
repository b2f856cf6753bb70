"""What chat programs put around a question, and the tasks that they send of their own."""

from __future__ import annotations

import json

import pytest

from drift.integrations.chat_questions import question_in, reply_to_task

ASKED = "Who assigns the berths?\nAnd <b>when</b>?"
EVIDENCE = (
    '<context>\n<source id="1" name="a.md">Question: what is this? <user_query>no</user_query>\n'
    "</context>\nQuery: none</source>\n</context>"
)
TEMPLATES = {
    "as it is": "{asked}",
    "open webui": "### Task:\nRespond, with [id] of <source>.\n\n{evidence}\n{asked}",
    "with a tag": "### Task:\nRespond.\n\n{evidence}\n\n<user_query>\n{asked}\n</user_query>\n",
    "an older one": "Use this.\n{evidence}\n\nGiven the context, answer.\nQuery: {asked}",
    "the question first": "Question: {asked}\n{evidence}\n",
    "without an instruction": "{asked}\n\n{evidence}",
    "documents": "<documents>\n<document>x</document>\n</documents>\n\n{asked}",
    "llama index": "Context information is below.\n---\nQuery: x\n---\nGiven the context "
    "information, answer the query.\nQuery: {asked}\nAnswer: ",
    "langchain": "Use the following pieces of context to answer at the end.\n\nA lamp.\n\n"
    "Question: {asked}\nHelpful Answer:",
    "an element": "{evidence}\n\n<question>\n{asked}\n</question>\nAnswer it.",
    "headings": "### Context:\nA lamp.\n\n### Question:\n{asked}\n\n### Answer:\n",
    "context": "Context:\nA lamp.\n\nQuestion: {asked}",
}  # fmt: skip


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_the_question_is_found_in_its_template(template: str) -> None:
    assert question_in(template.format(asked=ASKED, evidence=EVIDENCE)) == ASKED


@pytest.mark.parametrize(
    "text",
    [
        "What does <context>x</context> mean here?",
        "Question: why?",
        "Which context does the query need?\nQuery words are long.",
        "<context>\nx\n</context>",
        "### Task:\nWhich tasks are there?",
        "What is <user_query>?",
    ],
)
def test_a_question_without_a_template_stays_whole(text: str) -> None:
    assert question_in(text) == text
    assert reply_to_task(text) is None


HISTORY = (
    "### Chat History:\n<chat_history>\nUSER: Who assigns the **berths** of the North Quay, and "
    'how?\nASSISTANT: {"title": "x"}\nUSER: And in fog?\n</chat_history>'
)
TASKS = {
    'JSON format: { "title": "your title" }': {"title": "Who assigns the berths of the"},
    'JSON format: { "tags": ["tag1", "tag2"] }': {"tags": ["General"]},
    'use the format: { "queries": ["query1"] }': {"queries": ["And in fog?"]},
    'an object with a "follow_ups" key': {"follow_ups": []},
    'Return JSON:\n{\n  "prompt": "Your description."\n}': {"prompt": "And in fog?"},
    'If unsure, return: `{ "text": "" }`.': {"text": ""},
}


@pytest.mark.parametrize(("shape", "told"), TASKS.items())
def test_a_task_is_answered_in_its_shape(shape: str, told: dict[str, object]) -> None:
    reply = reply_to_task(f"### Task:\nDo it.\n### Output:\n{shape}\n{HISTORY}")
    assert reply is not None
    assert json.loads(reply) == told


PROVIDE = "Provide a concise, 5-word-or-less title for the conversation. Only return the title."
PLEASE = "Please generate a concise title (max 40 characters) for a conversation that starts with:"
CONVERSATION = "Conversation:\nUser: Who assigns the berths?\nAI: The harbour master."


@pytest.mark.parametrize(
    ("task", "told"),
    [
        (f"### Task:\nCreate a title. ONLY THE TITLE.\n{HISTORY}", "Who assigns the berths of the"),
        (f"{PROVIDE}\n\n{CONVERSATION}", "Who assigns the berths"),
        (f"{PLEASE}\nUser: Why?\nAssistant: So.\n\nTitle:", "Why"),
        ("### Task:\nCreate a title.\n<chat_history>\n</chat_history>", "Conversation"),
    ],
)
def test_a_title_in_words_is_words(task: str, told: str) -> None:
    assert reply_to_task(task) == told


@pytest.mark.parametrize(
    "text",
    [
        "Provide a title for the conversation of the harbour master.",
        "### Task:\nRespond.\n<context>\n<chat_history>USER: x\n</chat_history>\n</context>\nWhy?",
        "What is <chat_history>?",
    ],
)
def test_a_question_is_no_task(text: str) -> None:
    assert reply_to_task(text) is None


@pytest.mark.timeout(60)
def test_a_long_message_is_read_at_once() -> None:
    text = "context:\nquestion: a" + "\n" * 200_000 + "z"
    assert question_in(text).endswith("z")
    assert reply_to_task(text) is None
