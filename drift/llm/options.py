"""The options of a chat request beside the prompt: model, effort, and length of the reply.

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


ROOM = 4
"""How many times longer a reply may be after one was cut by a default; never by a setting."""


def step_of(prompt_name: str) -> Step:
    """Return the step that asks for this reply; an unknown one belongs to follow-ups."""
    steps: dict[str, Step] = {
        "hypothesis": "hypothesis",
        "primer_reply": "primer",
        "standalone_reply": "primer",
        "aggregate_reply": "aggregation",
    }
    return steps.get(prompt_name, "followup")


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The options sent with each prompt.

    `efforts` and `lengths` hold what the settings say of a step; None there means that nothing is
    sent.
    """

    small_model: str | None = None
    temperature: float | None = None
    efforts: Mapping[Step, Effort | None] = field(default_factory=dict)
    lengths: Mapping[Step, int | None] = field(default_factory=dict)

    def effort(self, step: Step) -> Effort | None:
        """Return the effort to ask for; None to ask for none in particular."""
        # The hypothesis is only searched with. The default of some providers is medium, and billed.
        return self.efforts.get(step, "none" if step == "hypothesis" else "low")

    def length(self, step: Step, *, was_cut: bool) -> int | None:
        """Return the most tokens of a reply; None for no bound."""
        if step in self.lengths:
            return self.lengths[step]
        # Three times what large models wrote, reasoning included, and no more than the 4,096 tokens
        # that the oldest models take. Azure counts them against the deployment's quota.
        usual = {"hypothesis": 1000, "primer": 2000}.get(step, 4000)
        return usual * (ROOM if was_cut else 1)
