"""What is asked of a chat model beside the prompt: which model, how much effort, how long a reply.

Each step of a search has its own defaults. No provider is named here, and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Step = Literal["hypothesis", "primer", "followup", "aggregation"]
"""The steps of a search that ask a chat model."""
STEPS: tuple[Step, ...] = get_args(Step)
SMALL_STEPS: frozenset[Step] = frozenset({"hypothesis", "primer"})
"""Those whose words prove nothing: what they miss, the follow-ups find."""

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
"""From the least to the most."""

UNSENT: Literal["unsent"] = "unsent"
"""In the place of a value: the provider's own default counts."""

DEFAULT_EFFORTS: Mapping[Step, Effort] = {
    "hypothesis": "none",
    "primer": "low",
    "followup": "low",
    "aggregation": "low",
}
"""The hypothesis is only searched with. The default of some providers is medium, and billed."""

DEFAULT_LENGTHS: Mapping[Step, int] = {
    "hypothesis": 1000,
    "primer": 2000,
    "followup": 4000,
    "aggregation": 4000,
}
"""Tokens of the longest reply, reasoning included: three times what large models wrote, and no more
than the 4,096 that the oldest models take. Azure counts them against the deployment's quota."""
ROOM = 4
"""How many times longer a reply may be after one was cut by a default; never by a setting."""

_STEPS_OF_REPLIES: Mapping[str, Step] = {
    "hypothesis": "hypothesis",
    "primer_reply": "primer",
    "aggregate_reply": "aggregation",
}


def step_of(prompt_name: str) -> Step:
    """Return the step that asks for this reply; what is not known belongs to follow-ups."""
    return _STEPS_OF_REPLIES.get(prompt_name, "followup")


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What to send with each prompt.

    `efforts` and `lengths` hold what the settings say of a step; None there means that nothing is
    sent.
    """

    small_model: str | None = None
    temperature: float | None = None
    efforts: Mapping[Step, Effort | None] = field(default_factory=dict)
    lengths: Mapping[Step, int | None] = field(default_factory=dict)

    def effort(self, step: Step) -> Effort | None:
        """Return the effort to ask for; None to ask for none in particular."""
        return self.efforts[step] if step in self.efforts else DEFAULT_EFFORTS[step]

    def length(self, step: Step, *, was_cut: bool) -> int | None:
        """Return the most tokens of a reply; None for no bound."""
        if step in self.lengths:
            return self.lengths[step]
        return DEFAULT_LENGTHS[step] * (ROOM if was_cut else 1)
