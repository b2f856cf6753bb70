"""The closed table from the Neo4j driver's errors to ours.

No sentence holds an address, a statement or the server's words. Matched by `code`, because Neo4j 5
gives most errors one and the same GQL status; where a code stands for many causes, by words too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import DriverError, Neo4jError

from drift.core.causes import causes, is_distrusted, name_is_unknown, speaks_no_tls
from drift.core.errors import (
    GraphMisconfiguredError,
    GraphTimeoutError,
    GraphUnavailableError,
    GraphVectorsError,
    UpstreamError,
)

# Over neo4j:// a database that is stopped and a server that is not there look alike.
UNAVAILABLE = (
    "The graph database cannot be reached, or is stopped: look whether it runs (AuraDB pauses free "
    "instances), and check NEO4J_URI."
)
_LOGIN = (
    "The graph database refuses the login: check NEO4J_USERNAME and NEO4J_PASSWORD. AuraDB calls "
    "the user neo4j, or as the instance: the ID of neo4j+s://ID.databases.neo4j.io."
)
_LOCKED = (
    "The graph database takes no login for some seconds, because there were too many wrong ones: "
    "whether this one is right is not known. Wait, and look for a client with an old password."
)
_EXPIRED = (
    "The graph database wants a new password before it takes this login: change it there, then set "
    "NEO4J_PASSWORD."
)
_FORBIDDEN = (
    "The graph database does not give this user the right to do that: check the roles of "
    "NEO4J_USERNAME. Questions need `reader` (MATCH and SHOW INDEX), `ingest` needs `publisher`, "
    "and `prepare` needs `architect`: an administrator runs `GRANT ROLE architect TO` the user."
)
_IDENTITY = "The graph database cannot ask its own provider of logins: look there, and try again."
_READ_ONLY = (
    "The graph database takes no writes here: it is read-only, or this server is a follower or a "
    "replica. Set NEO4J_URI to neo4j:// or neo4j+s://, which finds the writer, or allow writes."
)
_NO_DATABASE = (
    "The graph has no database of that name: check NEO4J_DATABASE, or leave it out for the user's "
    "home database."
)
_STOPPED = (
    "The database of NEO4J_DATABASE, or the user's home, is stopped, starting, or failed to start: "
    "look at it in Neo4j."
)
_DISK = (
    "The graph database could not save a change: look for a full or failing disk, and at its log."
)
_MEMORY = (
    "The graph database has too little memory for one search: raise its transaction memory, or try "
    "again."
)
_INDEX = "The graph lacks an index that this search needs: run `python -m drift prepare`."
_PROCEDURE = (
    "A procedure of the graph database failed for a reason of its own: look at the server's log."
)
_WORDS = (
    "The graph's full-text index does not take the words of this question: ask a shorter one, or "
    "look at the index's analyzer."
)
_TOO_LONG = (
    "The graph holds, or was to hold, a value that is too long for an index: shorten it, and run "
    "`python -m drift prepare`, which names what it finds."
)
_BROKEN_RULE = "The graph holds nodes that break a constraint of this schema."
_DIMENSIONS = (
    "The graph's embeddings and the question's do not have the same number of dimensions, or one "
    "of them is zero or not finite: embed both with one model, and run `python -m drift prepare`."
)
_OLD = (
    "The graph database does not know a statement of this service: it has to be Neo4j 5.26 or "
    "newer."
)
_CERTIFICATE = (
    "The graph database's certificate is not trusted: check the host of NEO4J_URI, and the "
    "certificates here."
)
_NOT_HTTP = (
    "What answers at NEO4J_URI is not Neo4j's Query API, which http:// and https:// speak: check "
    "its port (443 on AuraDB, 7474 or 7473 elsewhere), or begin with neo4j+s://."
)
_NO_CLIENT = (
    "http:// and https:// need two packages more: add `neo4j[http]` to requirements.txt and run "
    "`make lock`; for commands, `pip install 'neo4j[http]'`."
)
_NO_TLS = (
    "The graph database does not speak TLS there: begin NEO4J_URI with bolt:// or neo4j:// "
    "(http:// for the Query API), or give the server a certificate."
)
_ENDS_TLS = (
    "The graph database cannot be reached over TLS: look whether it runs and has a certificate; "
    "one without is reached by bolt:// or neo4j://. Check NEO4J_URI."
)
_ENDS_BOLT = (
    "What answers at NEO4J_URI ends a connection of Bolt at once: with TLS it needs bolt+s:// or "
    "neo4j+s://; else look at its port, and whether it is a Neo4j that runs."
)
_HTTP_THERE = (
    "What answers at NEO4J_URI speaks HTTP: bolt:// and neo4j:// need another port, 7687 by "
    "default."
)
_ADDRESS = "The graph's address or login is not usable: check NEO4J_URI."
_NAME = "The graph database's name is not known: check the host of NEO4J_URI, and DNS."
_CHANGED = "The graph was changed while one search read it: try again."
_ENDED = "The graph ended one search before it was done."
_SLOW = "The graph did not answer one search in time."

_CALL = "Neo.ClientError.Procedure.ProcedureCallFailed"
_WRONG, _AWAY = GraphMisconfiguredError, GraphUnavailableError

TABLE: tuple[tuple[str, type[UpstreamError], str], ...] = (
    ("Neo.ClientError.Security.AuthenticationRateLimit", _AWAY, _LOCKED),
    ("Neo.ClientError.Security.CredentialsExpired", _WRONG, _EXPIRED),
    ("Neo.ClientError.Security.Forbidden", _WRONG, _FORBIDDEN),
    ("Neo.ClientError.Security.AuthProvider", _AWAY, _IDENTITY),
    ("Neo.ClientError.Security.AuthorizationExpired", _AWAY, _IDENTITY),
    ("Neo.ClientError.Security.", _WRONG, _LOGIN),
    ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", _WRONG, _READ_ONLY),
    ("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", _WRONG, _READ_ONLY),
    ("Neo.ClientError.Cluster.NotALeader", _WRONG, _READ_ONLY),
    ("Neo.ClientError.Database.DatabaseNotFound", _WRONG, _NO_DATABASE),
    ("Neo.ClientError.Transaction.TransactionTimedOut", GraphTimeoutError, _SLOW),
    ("Neo.ClientError.Transaction.LockClientStopped", GraphTimeoutError, _SLOW),
    ("Neo.ClientError.Transaction.Terminated", GraphTimeoutError, _ENDED),
    ("Neo.ClientError.Procedure.ProcedureNotFound", _WRONG, _OLD),
    (_CALL, _WRONG, _PROCEDURE),
    ("Neo.ClientError.Schema.IndexNotFound", _WRONG, _INDEX),
    ("Neo.ClientError.Schema.", _WRONG, _BROKEN_RULE),
    ("Neo.ClientError.Statement.ArgumentError", GraphVectorsError, _DIMENSIONS),
    ("Neo.ClientError.Statement.TypeError", GraphVectorsError, _DIMENSIONS),
    ("Neo.ClientError.Statement.EntityNotFound", _AWAY, _CHANGED),
    ("Neo.ClientError.Statement.SyntaxError", _WRONG, _OLD),
    ("Neo.ClientError.", _WRONG, "The graph refuses a statement of this service."),
    ("Neo.TransientError.General.DatabaseUnavailable", _AWAY, _STOPPED),
    ("Neo.TransientError.Database.DatabaseUnavailable", _AWAY, _STOPPED),
    ("Neo.TransientError.Security.", _AWAY, _IDENTITY),
    ("Neo.TransientError.General.OutOfMemoryError", _AWAY, _MEMORY),
    ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", _AWAY, _MEMORY),
    ("Neo.TransientError.General.TransactionMemoryLimit", _AWAY, _MEMORY),
    ("Neo.TransientError.", _AWAY, "The graph database is overloaded or not ready."),
    ("Neo.DatabaseError.Database.", _AWAY, _STOPPED),
    ("Neo.DatabaseError.General.StorageDamageDetected", _AWAY, _DISK),
    ("Neo.DatabaseError.Transaction.", _AWAY, _DISK),
    ("Neo.DatabaseError.Schema.ConstraintCreationFailed", _WRONG, _BROKEN_RULE),
    ("Neo.DatabaseError.", _AWAY, "The graph database failed inside."),
)
"""Beginnings of Neo4j status codes, most special first."""

CAUSES: tuple[tuple[str, str, type[UpstreamError], str], ...] = (
    ("Neo.DatabaseError.", "too large to index", _WRONG, _TOO_LONG),
    (_CALL, "There is no such", _WRONG, _INDEX),
    (_CALL, "IndexNotFound", _WRONG, _INDEX),
    (_CALL, "maxClauseCount", _WRONG, _WORDS),
    (_CALL, "ParseException", _WRONG, _WORDS),
    (_CALL, "query vector", GraphVectorsError, _DIMENSIONS),
)
"""The same where a code alone says too little, with words that the server's message holds then."""

_AT_THE_DOOR: tuple[tuple[str, type[UpstreamError], str], ...] = (
    ("looks like HTTP", _WRONG, _HTTP_THERE),
    ("BoltSecurityError", _AWAY, _ENDS_TLS),
    ("incomplete handshake", _AWAY, _ENDS_BOLT),
    ("UnsupportedServerProduct", _WRONG, _ENDS_BOLT),
    ("ConfigurationError", _WRONG, _ADDRESS),
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
        missing = isinstance(error, ImportError)
        raise GraphMisconfiguredError(_NO_CLIENT if missing else _NOT_HTTP) from error


def translation(error: Exception) -> UpstreamError:
    """Return our error for one of the driver's or the operating system's."""
    code, words = getattr(error, "code", None) or "", getattr(error, "message", None) or ""
    for beginning, part, kind, sentence in CAUSES:
        if code.startswith(beginning) and part in words:
            return kind(sentence)

    for beginning, kind, sentence in TABLE:
        if code.startswith(beginning):
            return kind(sentence)

    return _at_the_door(error) or GraphUnavailableError(UNAVAILABLE)


def _at_the_door(error: Exception) -> UpstreamError | None:
    """Return what keeps the driver from a connection, where that is known."""
    if is_distrusted(error):
        return GraphMisconfiguredError(_CERTIFICATE)
    if name_is_unknown(error):
        return GraphUnavailableError(_NAME)
    if speaks_no_tls(error):
        return GraphMisconfiguredError(_NO_TLS)

    for cause in causes(error):
        for part, kind, sentence in _AT_THE_DOOR:
            if part in f"{type(cause).__name__}: {cause}":
                return kind(sentence)
    return None
