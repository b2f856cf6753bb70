"""Pure: the bounds of a search, its next reading, its end, and its progress."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from drift.model.graph import Chunk
from drift.model.tree import LocalAnswer

SHORT = 1_600
"""Characters up to which a chunk is shown again: it costs less than an answer that misses it."""
FIRST_LOOK = 5
"""Chunks that a follow-up is asked of first; they hold 94 % of what real answers cite of ten."""
CONFIDENT = 0.8
"""An answer this confident leaves nothing of its question open."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one search: passes over the tree, follow-ups in all, and what one prompt holds."""

    max_passes: int = 2
    max_followups: int = 10
    max_chunks_for_prompt: int = 10
    max_followups_per_prompt: int = 4
    max_prompt_tokens: int = 16_000
    hyde: Literal["auto", "always", "never"] = "auto"
    """When a model imagines an answer to search with: `auto` where vectors find the communities."""

    @property
    def max_primer_tokens(self) -> int:
        """The bound of the primer's prompt: samples only have to show what may be asked."""
        # Readers called most samples of a longer prompt useless.
        return min(self.max_prompt_tokens * 3 // 4, 6_000)

    @property
    def max_whole_tokens(self) -> int:
        """The bound of each prompt about the whole: a model overlooks things in a longer list."""
        return min(self.max_prompt_tokens, 9_000)

    def within(self, longest_prompt: int | None) -> Limits:
        """Return the bounds for a model that reads no more than this of a prompt; None for any."""
        return replace(self, max_prompt_tokens=prompt_bound(self.max_prompt_tokens, longest_prompt))


def prompt_bound(most: int, longest_prompt: int | None) -> int:
    """Return the most tokens of a prompt for a model that reads no more than `longest_prompt`."""
    if longest_prompt is None or longest_prompt >= most:
        return most
    return max(longest_prompt, 3_000)  # no prompt with evidence in it is shorter


def is_settling(answer: LocalAnswer) -> bool:
    """Tell whether an answer leaves nothing of its question open: evidence says it for certain."""
    is_answered = answer.verdict == "answered" and bool(answer.citations)
    return is_answered and answer.confidence >= CONFIDENT


def is_in_vain(answer: LocalAnswer) -> bool:
    """Tell whether an answer found nothing: then its question may be asked another way."""
    return not answer.citations or answer.verdict == "not_found"


def looks(
    leading: Sequence[Chunk], read: Collection[str]
) -> tuple[tuple[Chunk, ...], tuple[Chunk, ...]]:
    """Return the chunks of the first look at a follow-up's evidence, and those of a second one.

    The first look takes the first five without those that were read already, by a call that has
    ended or is under way. When none is left of these, the follow-up brings nothing new, and both
    are empty.
    """
    are_long = all(len(chunk.text) > SHORT for chunk in leading[:FIRST_LOOK])
    # A long chunk costs as much as all that an answer adds.
    count = 4 if are_long else FIRST_LOOK
    first, second = leading[:count], leading[count:]
    if all(chunk.id in read for chunk in first):
        return (), ()

    return (
        tuple(c for c in first if c.id not in read or len(c.text) <= SHORT),
        tuple(c for c in second if c.id not in read),
    )


def percentage(ended: Mapping[int, int], planned: Mapping[int, int], passes: int) -> int:
    """Return the progress of the follow-ups, 40 to 80; each pass has an equal share of that.

    `planned` counts the follow-ups of each pass (from 1) so far, `ended` those that have ended.
    """
    start, end = 40, 80
    if all(ended.get(number, 0) >= count for number, count in planned.items()):
        return end

    shares = (
        min(1.0, ended.get(number, 0) / planned[number])
        for number in range(1, passes + 1)
        if planned.get(number)
    )

    return start + int((end - start) * sum(shares) / passes)
