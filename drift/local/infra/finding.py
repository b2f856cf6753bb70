"""What a look at a machine or a deployment finds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; a `problem` keeps something from working, a `note` does not."""

    name: str
    state: State
    text: str


Values = Mapping[str, Any]
"""The values of a deployment's parameters, by name."""
Said = tuple[str, State, str]
"""Name of the parameter, whether it is a problem, and a sentence that says what to change."""
Rule = Callable[[Values], Iterator[Said]]


def settings_of(values: Values) -> Mapping[str, Any]:
    """Return the settings that people give; none where the file computes them."""
    given = values.get("appSettings")
    return given if isinstance(given, dict) else {}
