"""The bodies of the routes that write people's own nodes, and what they answer."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from drift.contracts.body import Body, plain_text
from drift.contracts.request import ProjectId

MAX_PROPERTIES = 100
_OF_VECTORS = ("embedding", "embedding_hash", "embedding_model")
RESERVED = frozenset({"id", "project_id", "updated_at", "generation", *_OF_VECTORS})
"""Properties that are ours."""


def _properties(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse what a node cannot hold, or what is not the caller's to set."""
    if len(value) > MAX_PROPERTIES:
        raise ValueError(f"may hold at most {MAX_PROPERTIES} properties")

    for name, held in value.items():
        if not 1 <= len(plain_text(name)) <= 100:  # noqa: PLR2004 - said in the message
            raise ValueError("must have names of 1 to 100 characters")
        if name in RESERVED or name.startswith("embedding_"):
            raise ValueError(f"must not hold {name}, which is the service's own")
        if not _can_be_held(held):
            raise ValueError(
                f"must hold text, numbers, true, false, or a list of one of these: not {name}"
            )

    return value


def _can_be_held(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return len(set(map(type, items))) <= 1 and all(map(_is_scalar, items))


def _is_scalar(value: object) -> bool:
    match value:
        case bool():
            return True
        case str():
            return bool(plain_text(value)) or not value
        case int():
            return -(2**63) <= value < 2**63
        case float():
            return math.isfinite(value)
        case _:
            return False


NodeProperties = Annotated[
    dict[str, Any],
    AfterValidator(_properties),
    Field(description="Text, numbers, true, false, or lists of one of these."),
]


NodeId = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(plain_text)]


class NewNode(Body):
    """A node to be made; unknown fields are refused.

    Its text is a `title` or a `name`, and a `description`, among the properties. Without an `id` it
    gets one. The project may be left out by a caller who may read exactly one.
    """

    label: Annotated[str, StringConstraints(min_length=1, max_length=63)]
    properties: NodeProperties
    id: NodeId | None = None
    project_id: ProjectId | None = None


class NodeChange(Body):
    """All properties that a node shall have from now on; unknown fields are refused."""

    properties: NodeProperties


class NodeOut(BaseModel):
    """A node as it was written; `embedded` tells whether this request asked for its vector."""

    id: str
    project_id: str
    label: str
    title: str
    embedded: bool
