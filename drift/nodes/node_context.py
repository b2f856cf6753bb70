"""Pure: found nodes as the numbered context of a prompt, within a token budget."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drift.model.calls import Prompt
from drift.model.found_nodes import FoundNode, RelatedNode
from drift.prompting import prompts
from drift.prompting.budget import cost_of, cut_question
from drift.prompting.markup import element, indented, on_line
from drift.prompting.tokens import cut, cut_to, most_tokens

MAX_CONTEXT_TOKENS = 100_000
"""Of the whole prompt."""
MAX_TITLE_CHARACTERS = 300


def asked_of(
    question: str, nodes: Sequence[FoundNode], bound: int = MAX_CONTEXT_TOKENS
) -> tuple[Prompt, tuple[FoundNode, ...]]:
    """Return the prompt, and the nodes that stand in it: [Node 1] is the first of them.

    Nodes of the lowest score are left out until the prompt fits. The best node always stays, with
    as much of its text as fits.
    """
    question = cut_question(question, bound)
    shown = tuple(sorted(nodes, key=lambda node: -node.score))
    prompt = _prompt(question, shown)
    while len(shown) > 1 and cost_of(prompt) > bound:
        shown = shown[:-1]
        prompt = _prompt(question, shown)

    if cost_of(prompt) > bound:
        prompt = _shortened(question, shown[0], bound)
    return prompt, shown


def _prompt(question: str, nodes: Sequence[FoundNode]) -> Prompt:
    return prompts.rag(question, [_element(n, node) for n, node in enumerate(nodes, start=1)])


def _shortened(question: str, node: FoundNode, most: int) -> Prompt:
    room = most - cost_of(prompts.rag(question, [_element(1, node, "")]))
    return prompts.rag(question, [_element(1, node, cut_to(node.text, room, _cost_of_text))])


def _element(number: int, node: FoundNode, text: str | None = None) -> str:
    """Return a node as seed 002 writes it; its own words cannot pose as another node."""
    title = on_line(cut(_unforged(node.title), MAX_TITLE_CHARACTERS))
    said = indented(_unforged(node.text if text is None else text).strip())
    lines = [f"[Node {number}] {title}: {said}".rstrip()]
    if node.related:
        lines.append(f"Related: {'; '.join(map(_related, node.related))}")
    kind = cut(_unforged(node.node_type), 100)
    return element("node", "\n".join(lines), type=kind)


def _related(node: RelatedNode) -> str:
    title = on_line(cut(_unforged(node.title), MAX_TITLE_CHARACTERS))
    relation = on_line(cut(_unforged(node.relation), 300))
    return f"{title} ({relation})" if relation else title


def _unforged(text: str) -> str:
    return re.sub(r"[\[【](?=\s*nodes?\b)", "(", text, flags=re.IGNORECASE)


def _cost_of_text(text: str) -> int:
    return most_tokens(indented(_unforged(text)))
