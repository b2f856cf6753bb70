"""Vectors that can be compared: with a direction, and of one model, or else they are noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from drift.core.errors import GraphMisconfiguredError, ModelMisconfiguredError
from drift.graph.cypher.legs import INGESTED
from drift.model.graph import Vector

_MIN_LENGTH, _MAX_FLOAT = 1e-30, 3.4e38
"""A vector between these has a direction in numbers of 32 bits."""


def has_direction(vector: Vector) -> bool:
    """Tell whether a vector has a direction in numbers of 32 bits."""
    is_long_enough = math.hypot(*vector) > _MIN_LENGTH
    return is_long_enough and all(abs(number) < _MAX_FLOAT for number in vector)


def require_direction(vector: Vector) -> None:
    """Raise ModelMisconfiguredError for a vector without a direction in numbers of 32 bits."""
    if has_direction(vector):
        return

    raise ModelMisconfiguredError(
        "The embedding model gave a question a vector that is zero or not finite, so that nothing "
        "is near it: check OAI_EMBED_MODEL_NAME and OAI_EMBED_DEPLOYMENT_NAME."
    )


def require_model_of_project(row: Mapping[str, Any], asked: str) -> None:
    """Raise GraphMisconfiguredError where a search's row tells of vectors of another model."""
    _require([*_listed(row["made_by"]), *row.get("models", ())], asked)


def require_model_of_nodes(records: Iterable[Mapping[str, Any]], asked: str) -> None:
    """Raise GraphMisconfiguredError where nodes that were found have vectors of another model."""
    of_project: list[object] = []
    personal: list[object] = []
    for record in records:
        row = record["row"]
        if INGESTED.keys().isdisjoint(row["labels"]):
            personal.append(row["model"])
        else:
            of_project += [*_listed(record["made_by"]), row["model"]]

    _require(of_project, asked)
    _require(personal, asked, mend="run `python -m drift reconcile`")


def _require(
    known: Iterable[object],
    asked: str,
    mend: str = "give this model vectors of its own, by `python -m drift reindex`",
) -> None:
    others = other_models(known, asked)
    if others:
        names = " and ".join(others)
        raise GraphMisconfiguredError(
            f"The vectors here were made by {names}, and the question's by {asked}, so that no "
            f"comparison means anything: set OAI_EMBED_MODEL_NAME to {others[0]}, or {mend}."
        )


def _listed(stored: object) -> list[object]:
    return stored if isinstance(stored, list) else [stored]


def other_models(known: Iterable[object], asked: str) -> tuple[str, ...]:
    """Return the names that mean another model than `asked`, each once; none where that is unknown.

    Case, a provider before the name and the tag `latest` behind it make no other model.
    """
    wanted = _key(asked)
    names = {name for name in known if isinstance(name, str) and name.strip()}
    return tuple(sorted(name for name in names if wanted and _key(name) != wanted))


def _key(name: str) -> str:
    return name.strip().casefold().rpartition("/")[2].removesuffix(":latest")
