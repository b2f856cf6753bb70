"""The closed table from the Neo4j driver's errors to ours.

No sentence holds an address, a statement or the server's words. Matched by `code`, because Neo4j 5
gives most errors one and the same GQL status; where a code stands for many causes, by words too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from neo4j.exceptions import DriverError, Neo4jError

from drift.core.causes import causes, is_distrusted, name_is_unknown, speaks_no_tls
from drift.core.errors import (
    GraphMisconfiguredError,
    GraphTimeoutError,
    GraphUnavailableError,
    GraphVectorsError,
    UpstreamError,
)


class _Row(NamedTuple):
    """An error of ours, for codes that begin so, in a message that holds one of the words."""

    kind: type[UpstreamError]
    sentence: str
    codes: str | tuple[str, ...] = ""
    words: tuple[str, ...] = ("",)


_INDEX = "The graph lacks an index that this search needs: run `python -m drift prepare`."
_DIMENSIONS = (
    "The graph's embeddings and the question's do not have the same number of dimensions, or one "
    "of them is zero or not finite: embed both with one model, and run `python -m drift prepare`."
)
_ENDS_BOLT = (
    "What answers at NEO4J_URI ends a connection of Bolt at once: with TLS it needs bolt+s:// or "
    "neo4j+s://; else look at its port, and whether it is a Neo4j that runs."
)
_CALL = "Neo.ClientError.Procedure.ProcedureCallFailed"
_WRONG, _AWAY = GraphMisconfiguredError, GraphUnavailableError

TABLE = (
    _Row(
        _WRONG,
        "The graph holds, or was to hold, a value that is too long for an index: shorten it, and "
        "run `python -m drift prepare`, which names what it finds.",
        "Neo.DatabaseError.",
        ("too large to index",),
    ),
    _Row(_WRONG, _INDEX, _CALL, ("There is no such", "IndexNotFound")),
    _Row(
        _WRONG,
        "The graph's full-text index does not take the words of this question: ask a shorter one,"
        " or look at the index's analyzer.",
        _CALL,
        ("maxClauseCount", "ParseException"),
    ),
    _Row(GraphVectorsError, _DIMENSIONS, _CALL, ("query vector",)),
    _Row(
        _AWAY,
        "The graph database takes no login for some seconds, because there were too many wrong "
        "ones: whether this one is right is not known. Wait, and look for a client with an old "
        "password.",
        "Neo.ClientError.Security.AuthenticationRateLimit",
    ),
    _Row(
        _WRONG,
        "The graph database wants a new password before it takes this login: change it there, "
        "then set NEO4J_PASSWORD.",
        "Neo.ClientError.Security.CredentialsExpired",
    ),
    _Row(
        _WRONG,
        "The graph database does not give this user the right to do that: check the roles of "
        "NEO4J_USERNAME. Questions need `reader` (MATCH and SHOW INDEX), `ingest` needs "
        "`publisher`, and `prepare` needs `architect`: an administrator runs `GRANT ROLE "
        "architect TO` the user.",
        "Neo.ClientError.Security.Forbidden",
    ),
    _Row(
        _AWAY,
        "The graph database cannot ask its own provider of logins: look there, and try again.",
        (
            "Neo.ClientError.Security.AuthProvider",
            "Neo.ClientError.Security.AuthorizationExpired",
            "Neo.TransientError.Security.",
        ),
    ),
    _Row(
        _WRONG,
        "The graph database refuses the login: check NEO4J_USERNAME and NEO4J_PASSWORD. AuraDB "
        "calls the user neo4j, or as the instance: the ID of neo4j+s://ID.databases.neo4j.io.",
        "Neo.ClientError.Security.",
    ),
    _Row(
        _WRONG,
        "The graph database takes no writes here: it is read-only, or this server is a follower "
        "or a replica. Set NEO4J_URI to neo4j:// or neo4j+s://, which finds the writer, or allow "
        "writes.",
        (
            "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
            "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase",
            "Neo.ClientError.Cluster.NotALeader",
        ),
    ),
    _Row(
        _WRONG,
        "The graph has no database of that name: check NEO4J_DATABASE, or leave it out for the "
        "user's home database.",
        "Neo.ClientError.Database.DatabaseNotFound",
    ),
    _Row(
        GraphTimeoutError,
        "The graph did not answer one search in time.",
        (
            "Neo.ClientError.Transaction.TransactionTimedOut",
            "Neo.ClientError.Transaction.LockClientStopped",
        ),
    ),
    _Row(
        GraphTimeoutError,
        "The graph ended one search before it was done.",
        "Neo.ClientError.Transaction.Terminated",
    ),
    _Row(
        _WRONG,
        "The graph database does not know a statement of this service: it has to be Neo4j 5.26 or"
        " newer.",
        ("Neo.ClientError.Procedure.ProcedureNotFound", "Neo.ClientError.Statement.SyntaxError"),
    ),
    _Row(
        _WRONG,
        "A procedure of the graph database failed for a reason of its own: look at the server's "
        "log.",
        _CALL,
    ),
    _Row(_WRONG, _INDEX, "Neo.ClientError.Schema.IndexNotFound"),
    _Row(
        _WRONG,
        "The graph holds nodes that break a constraint of this schema.",
        ("Neo.ClientError.Schema.", "Neo.DatabaseError.Schema.ConstraintCreationFailed"),
    ),
    _Row(
        GraphVectorsError,
        _DIMENSIONS,
        ("Neo.ClientError.Statement.ArgumentError", "Neo.ClientError.Statement.TypeError"),
    ),
    _Row(
        _AWAY,
        "The graph was changed while one search read it: try again.",
        "Neo.ClientError.Statement.EntityNotFound",
    ),
    _Row(_WRONG, "The graph refuses a statement of this service.", "Neo.ClientError."),
    _Row(
        _AWAY,
        "The database of NEO4J_DATABASE, or the user's home, is stopped, starting, or failed to "
        "start: look at it in Neo4j.",
        (
            "Neo.TransientError.General.DatabaseUnavailable",
            "Neo.TransientError.Database.DatabaseUnavailable",
            "Neo.DatabaseError.Database.",
        ),
    ),
    _Row(
        _AWAY,
        "The graph database has too little memory for one search: raise its transaction memory, "
        "or try again.",
        (
            "Neo.TransientError.General.OutOfMemoryError",
            "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
            "Neo.TransientError.General.TransactionMemoryLimit",
        ),
    ),
    _Row(_AWAY, "The graph database is overloaded or not ready.", "Neo.TransientError."),
    _Row(
        _AWAY,
        "The graph database could not save a change: look for a full or failing disk, and at its "
        "log.",
        ("Neo.DatabaseError.General.StorageDamageDetected", "Neo.DatabaseError.Transaction."),
    ),
    _Row(_AWAY, "The graph database failed inside.", "Neo.DatabaseError."),
)
"""Rows of Neo4j status codes, most special first; those with words say more than a code does."""

_AT_THE_DOOR = (
    _Row(
        _WRONG,
        "What answers at NEO4J_URI speaks HTTP: bolt:// and neo4j:// need another port, 7687 by "
        "default.",
        words=("looks like HTTP",),
    ),
    _Row(
        _AWAY,
        "The graph database cannot be reached over TLS: look whether it runs and has a "
        "certificate; one without is reached by bolt:// or neo4j://. Check NEO4J_URI.",
        words=("BoltSecurityError",),
    ),
    _Row(_AWAY, _ENDS_BOLT, words=("incomplete handshake",)),
    _Row(_WRONG, _ENDS_BOLT, words=("UnsupportedServerProduct",)),
    _Row(
        _WRONG,
        "The graph's address or login is not usable: check NEO4J_URI.",
        words=("ConfigurationError",),
    ),
)
"""What the driver says of a server that does not speak as NEO4J_URI has it."""


@contextmanager
def translated(*, http: bool = False) -> Iterator[None]:
    """Turn every error of the driver, and of the sockets below it, into one of the table's.

    Over HTTP the driver's include what it makes of a reply that is not Neo4j's.
    """
    try:
        yield
    except (DriverError, Neo4jError, OSError) as error:
        raise translation(error) from error
    except Exception as error:
        if not http:
            raise
        if isinstance(error, ImportError):
            raise GraphMisconfiguredError(
                "http:// and https:// need two packages more: add `neo4j[http]` to "
                "requirements.txt and run `make lock`; for commands, `pip install 'neo4j[http]'`."
            ) from error
        raise GraphMisconfiguredError(
            "What answers at NEO4J_URI is not Neo4j's Query API, which http:// and https:// speak: "
            "check its port (443 on AuraDB, 7474 or 7473 elsewhere), or begin with neo4j+s://."
        ) from error


def translation(error: Exception) -> UpstreamError:
    """Return our error for one of the driver's or the operating system's."""
    code, message = getattr(error, "code", None) or "", getattr(error, "message", None) or ""
    for row in TABLE:
        if code.startswith(row.codes) and any(word in message for word in row.words):
            return row.kind(row.sentence)

    # Over neo4j:// a database that is stopped and a server that is not there look alike.
    return _at_the_door(error) or GraphUnavailableError(
        "The graph database cannot be reached, or is stopped: look whether it runs (AuraDB pauses "
        "free instances), and check NEO4J_URI."
    )


def _at_the_door(error: Exception) -> UpstreamError | None:
    """Return what keeps the driver from a connection, where that is known."""
    if is_distrusted(error):
        return GraphMisconfiguredError(
            "The graph database's certificate is not trusted: check the host of NEO4J_URI, and the "
            "certificates here."
        )
    if name_is_unknown(error):
        return GraphUnavailableError(
            "The graph database's name is not known: check the host of NEO4J_URI, and DNS."
        )
    if speaks_no_tls(error):
        return GraphMisconfiguredError(
            "The graph database does not speak TLS there: begin NEO4J_URI with bolt:// or neo4j:// "
            "(http:// for the Query API), or give the server a certificate."
        )

    for cause in causes(error):
        for row in _AT_THE_DOOR:
            if any(word in f"{type(cause).__name__}: {cause}" for word in row.words):
                return row.kind(row.sentence)
    return None
