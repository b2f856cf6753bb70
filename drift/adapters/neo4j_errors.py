"""The closed table from the Neo4j driver's errors to ours; no sentence holds an address, a statement or the server's words.

Matched by `code`, because Neo4j 5 gives most errors one and the same GQL status.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError

from drift.errors import GraphMisconfiguredError, GraphTimeoutError, GraphUnavailableError, UpstreamError

UNAVAILABLE = "The graph database cannot be reached."
_LOGIN = "The graph database refuses the login: check NEO4J_USERNAME and NEO4J_PASSWORD."
_INDEX = "The graph lacks an index that this search needs: run `python -m drift prepare`."
_DIMENSIONS = (
    "The graph's embeddings and the question's do not have the same number of dimensions, or one of them is zero or not "
    "finite: embed both with one model, and run `python -m drift prepare`."
)

# Beginnings of Neo4j status codes, most special first.
_BY_CODE: tuple[tuple[str, type[UpstreamError], str], ...] = (
    ("Neo.ClientError.Security.", GraphMisconfiguredError, _LOGIN),
    (
        "Neo.ClientError.Database.DatabaseNotFound",
        GraphMisconfiguredError,
        "The graph has no database of that name: check NEO4J_DATABASE.",
    ),
    (
        "Neo.ClientError.Transaction.TransactionTimedOut",
        GraphTimeoutError,
        "The graph did not answer one search in time.",
    ),
    ("Neo.ClientError.Transaction.Terminated", GraphTimeoutError, "The graph ended one search before it was done."),
    ("Neo.ClientError.Procedure.ProcedureCallFailed", GraphMisconfiguredError, _INDEX),
    ("Neo.ClientError.Schema.IndexNotFound", GraphMisconfiguredError, _INDEX),
    (
        "Neo.ClientError.Schema.",
        GraphMisconfiguredError,
        "The graph holds nodes that break a constraint of this schema.",
    ),
    ("Neo.ClientError.Statement.ArgumentError", GraphMisconfiguredError, _DIMENSIONS),
    ("Neo.ClientError.Statement.TypeError", GraphMisconfiguredError, _DIMENSIONS),
    ("Neo.ClientError.", GraphMisconfiguredError, "The graph refuses a statement of this service."),
    ("Neo.TransientError.", GraphUnavailableError, "The graph database is overloaded or not ready."),
    ("Neo.DatabaseError.", GraphUnavailableError, "The graph database failed inside."),
)


@contextmanager
def translated() -> Iterator[None]:
    """Turn every error of the driver, and of the sockets below it, into one of ours.

    Raises:
        GraphUnavailableError, GraphTimeoutError, GraphMisconfiguredError: by the table above.
    """
    try:
        yield
    except (DriverError, Neo4jError, OSError) as error:
        raise translation(error) from error


def translation(error: Exception) -> UpstreamError:
    """Return our error for one of the driver's or the operating system's."""
    code = getattr(error, "code", None) or ""
    for beginning, kind, sentence in _BY_CODE:
        if code.startswith(beginning):
            return kind(sentence)
    if isinstance(error, ConfigurationError):
        return GraphMisconfiguredError("The graph's address or login is not usable: check NEO4J_URI.")
    return GraphUnavailableError(UNAVAILABLE)
