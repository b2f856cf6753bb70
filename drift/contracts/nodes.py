"""The bodies of the routes that write people's own nodes, and what they answer."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from drift.contracts.request import ProjectId, plain_text

MAX_PROPERTIES = 100
RESERVED = frozenset(
    {
        "id",
        "project_id",
        "embedding",
        "embedding_hash",
        "embedding_model",
        "updated_at",
        "generation",
    }
)
"""Properties that are ours."""
_LARGEST = 2**63


def _properties(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse what a node cannot hold, or what is not the caller's to set."""
    if len(value) > MAX_PROPERTIES:
        raise ValueError(f"may hold at most {MAX_PROPERTIES} properties")

    for name, held in value.items():
        if not 1 <= len(plain_text(name)) <= 100:  # noqa: PLR2004 - said in the message
            raise ValueError("must have names of 1 to 100 characters")
        if name in RESERVED:
            raise ValueError(f"must not hold {name}, which is the service's own")
        if not _can_be_held(held):
            raise ValueError(
                f"must hold text, numbers, true, false, or a list of one of these: not {name}"
            )

    return value


def _can_be_held(value: object) -> bool:
    if isinstance(value, list):
        kinds = {type(item) for item in value}
        return len(kinds) <= 1 and all(_is_scalar(item) for item in value)
    return _is_scalar(value)


def _is_scalar(value: object) -> bool:
    match value:
        case bool():
            return True
        case str():
            return bool(plain_text(value)) or not value
        case int():
            return -_LARGEST <= value < _LARGEST
        case float():
            return math.isfinite(value)
        case _:
            return False


NodeId = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(plain_text)]
NodeProperties = Annotated[
    dict[str, Any],
    AfterValidator(_properties),
    Field(description="Text, numbers, true, false, or lists of one of these."),
]


class NewNode(BaseModel):
    """A node to be made; unknown fields are refused.

    Its text is a `title` or a `name`, and a `description`, among the properties. Without an `id` it
    gets one. The project may be left out by a caller who has exactly one.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    label: Annotated[str, StringConstraints(min_length=1, max_length=63)]
    properties: NodeProperties
    id: NodeId | None = None
    project_id: ProjectId | None = None


class NodeChange(BaseModel):
    """All properties that a node shall have from now on; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    properties: NodeProperties


class NodeOut(BaseModel):
    """A node as it was written; `embedded` tells whether this request asked for its vector."""

    id: str
    project_id: str
    label: str
    title: str
    embedded: bool
