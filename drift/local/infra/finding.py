"""What a look at a machine or a deployment finds."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; a `problem` keeps something from working, a `note` does not."""

    name: str
    state: State
    text: str
