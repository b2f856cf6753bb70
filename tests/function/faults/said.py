"""What is said of errors that no request can be made to meet here.

Of Neo4j by its codes, of the model server by its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import httpx2
import openai
from neo4j.exceptions import Neo4jError

from drift.core.errors import DriftError
from drift.graph.errors import translation
from drift.llm.errors import failure


@dataclass(frozen=True, slots=True)
class Said:
    """An error of a server, our code for it, and words of the sentence, which names what to do."""

    of: str
    code: str
    words: str

    def __str__(self) -> str:
        """Return a name for the test."""
        return self.of

    def made(self) -> DriftError:
        """Return the error that a request gets."""
        if self.of.startswith("Neo."):
            code, _, words = self.of.partition(": ")
            told = Neo4jError(f"canary: the server's own words, {words}")
            told._neo4j_code = code
            told._message = str(told)
            return translation(told)
        status, _, code = self.of.removeprefix("HTTP ").partition(" ")
        response = httpx2.Response(
            int(status), request=httpx2.Request("POST", "https://canary.example")
        )
        error = openai.APIStatusError("canary", response=response, body={"code": code})
        read = failure(error, "OAI_MODEL")
        assert read
        return read.error


_WRONG, _AWAY = "graph_misconfigured", "graph_unavailable"
_MODEL_WRONG, _MODEL_AWAY = "model_misconfigured", "model_unavailable"
_CLIENT, _PASSING, _SERVER = "Neo.ClientError.", "Neo.TransientError.", "Neo.DatabaseError."
_HTTP = "HTTP "


def _of(kind: str, code: str, words: str, *errors: str) -> tuple[Said, ...]:
    """Return what is said of errors of one kind, all in the same words."""
    return tuple(Said(f"{kind}{error}", code, words) for error in errors)


SAID = (
    *_of(_CLIENT, _WRONG, "check NEO4J_USERNAME and NEO4J_PASSWORD", "Security.Unauthorized"),
    *_of(
        _CLIENT, _AWAY, "whether this one is right is not known", "Security.AuthenticationRateLimit"
    ),
    *_of(_CLIENT, _WRONG, "wants a new password", "Security.CredentialsExpired"),
    *_of(_CLIENT, _WRONG, "check the roles of NEO4J_USERNAME", "Security.Forbidden"),
    *_of(_CLIENT, _AWAY, "its own provider of logins", "Security.AuthProviderTimeout"),
    *_of(_CLIENT, _WRONG, "it is read-only", "General.ForbiddenOnReadOnlyDatabase"),
    *_of(
        _CLIENT, _WRONG, "a follower or a replica. Set NEO4J_URI to neo4j://", "Cluster.NotALeader"
    ),
    *_of(_CLIENT, _WRONG, "check NEO4J_DATABASE", "Database.DatabaseNotFound"),
    *_of(
        _PASSING,
        _AWAY,
        "stopped, starting, or failed to start",
        "Database.DatabaseUnavailable",
        "General.DatabaseUnavailable",
    ),
    *_of(_SERVER, _AWAY, "stopped, starting, or failed to start", "Database.UnableToStartDatabase"),
    *_of(
        _SERVER,
        _AWAY,
        "look for a full or failing disk",
        "Transaction.TransactionCommitFailed",
        "Transaction.TransactionStartFailed",
        "General.StorageDamageDetected",
    ),
    *_of(_SERVER, _AWAY, "failed inside", "General.UnknownError"),
    *_of(_PASSING, _AWAY, "raise its transaction memory", "General.MemoryPoolOutOfMemoryError"),
    *_of(_PASSING, _AWAY, "overloaded or not ready", "Transaction.DeadlockDetected"),
    *_of(_CLIENT, _AWAY, "did not answer one search in time", "Transaction.TransactionTimedOut"),
    *_of(_CLIENT, _AWAY, "changed while one search read it", "Statement.EntityNotFound"),
    *_of(
        _CLIENT,
        _WRONG,
        "it has to be Neo4j 5.26 or newer",
        "Statement.SyntaxError",
        "Procedure.ProcedureNotFound",
    ),
    *_of(_CLIENT, _WRONG, "look at the server's log", "Procedure.ProcedureCallFailed"),
    *_of(
        _CLIENT,
        _WRONG,
        "run `python -m drift prepare`",
        "Procedure.ProcedureCallFailed: There is no such",
    ),
    *_of(
        _CLIENT, _WRONG, "does not take the words", "Procedure.ProcedureCallFailed: maxClauseCount"
    ),
    *_of(_SERVER, _AWAY, "failed inside", "Statement.ExecutionFailed"),
    *_of(_SERVER, _WRONG, "too long for an index", "Statement.ExecutionFailed: too large to index"),
    *_of(_SERVER, _WRONG, "break a constraint", "Schema.ConstraintCreationFailed"),
    *_of(_CLIENT, _WRONG, "break a constraint", "Schema.ConstraintValidationFailed"),
    *_of(_CLIENT, _WRONG, "refuses a statement", "Statement.AccessMode"),
    *_of(_HTTP, _MODEL_WRONG, "is at another address (HTTP 301): check OAI_BASE_URL", "301"),
    *_of(_HTTP, _MODEL_WRONG, "lower MAX_CHUNKS_FOR_PROMPT", "400 context_length_exceeded"),
    *_of(_HTTP, "unusable_reply", "content_filter", "400 content_filter"),
    *_of(_HTTP, _MODEL_WRONG, "check OAI_KEY, or the role of the identity", "401", "403"),
    *_of(_HTTP, _MODEL_WRONG, "check OAI_MODEL, OAI_BASE_URL and OAI_API_VERSION", "404"),
    *_of(
        _HTTP,
        _MODEL_WRONG,
        "has no model of that name (HTTP 404): check OAI_MODEL",
        "404 model_not_found",
    ),
    *_of(_HTTP, _MODEL_WRONG, "check that the model of OAI_MODEL takes what is sent", "422"),
    *_of(_HTTP, _MODEL_AWAY, "too many requests", "429"),
    *_of(
        _HTTP,
        _MODEL_WRONG,
        "check the plan and the billing of its account",
        "429 insufficient_quota",
    ),
    *_of(_HTTP, _MODEL_AWAY, "fails (HTTP 503)", "503"),
)


def part_of_document() -> str:
    """Return the section of docs/faults.md: the errors of each code."""
    rows = []
    for code in dict.fromkeys(said.code for said in SAID):
        of = "; ".join(f"`{said.of}`" for said in SAID if said.code == code)
        rows.append(f"| `{code}` | {of} |")

    head = "The sentence in `detail` names what to check.\n\n| code | errors |\n| --- | --- |\n"
    return "\n## Codes of a server's own errors\n\n" + head + "\n".join(rows) + "\n"
