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

SAID = (
    Said(
        "Neo.ClientError.Security.Unauthorized", _WRONG, "check NEO4J_USERNAME and NEO4J_PASSWORD"
    ),
    Said(
        "Neo.ClientError.Security.AuthenticationRateLimit",
        _AWAY,
        "whether this one is right is not known",
    ),
    Said("Neo.ClientError.Security.CredentialsExpired", _WRONG, "wants a new password"),
    Said("Neo.ClientError.Security.Forbidden", _WRONG, "check the roles of NEO4J_USERNAME"),
    Said("Neo.ClientError.Security.AuthProviderTimeout", _AWAY, "its own provider of logins"),
    Said("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", _WRONG, "it is read-only"),
    Said(
        "Neo.ClientError.Cluster.NotALeader",
        _WRONG,
        "a follower or a replica. Set NEO4J_URI to neo4j://",
    ),
    Said("Neo.ClientError.Database.DatabaseNotFound", _WRONG, "check NEO4J_DATABASE"),
    Said(
        "Neo.TransientError.Database.DatabaseUnavailable",
        _AWAY,
        "stopped, starting, or failed to start",
    ),
    Said(
        "Neo.TransientError.General.DatabaseUnavailable",
        _AWAY,
        "stopped, starting, or failed to start",
    ),
    Said(
        "Neo.DatabaseError.Database.UnableToStartDatabase",
        _AWAY,
        "stopped, starting, or failed to start",
    ),
    Said(
        "Neo.DatabaseError.Transaction.TransactionCommitFailed",
        _AWAY,
        "look for a full or failing disk",
    ),
    Said(
        "Neo.DatabaseError.Transaction.TransactionStartFailed",
        _AWAY,
        "look for a full or failing disk",
    ),
    Said(
        "Neo.DatabaseError.General.StorageDamageDetected", _AWAY, "look for a full or failing disk"
    ),
    Said("Neo.DatabaseError.General.UnknownError", _AWAY, "failed inside"),
    Said(
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        _AWAY,
        "raise its transaction memory",
    ),
    Said("Neo.TransientError.Transaction.DeadlockDetected", _AWAY, "overloaded or not ready"),
    Said(
        "Neo.ClientError.Transaction.TransactionTimedOut",
        _AWAY,
        "did not answer one search in time",
    ),
    Said("Neo.ClientError.Statement.EntityNotFound", _AWAY, "changed while one search read it"),
    Said("Neo.ClientError.Statement.SyntaxError", _WRONG, "it has to be Neo4j 5.26 or newer"),
    Said("Neo.ClientError.Procedure.ProcedureNotFound", _WRONG, "it has to be Neo4j 5.26 or newer"),
    Said("Neo.ClientError.Procedure.ProcedureCallFailed", _WRONG, "look at the server's log"),
    Said(
        "Neo.ClientError.Procedure.ProcedureCallFailed: There is no such",
        _WRONG,
        "run `python -m drift prepare`",
    ),
    Said(
        "Neo.ClientError.Procedure.ProcedureCallFailed: maxClauseCount",
        _WRONG,
        "does not take the words",
    ),
    Said("Neo.DatabaseError.Statement.ExecutionFailed", _AWAY, "failed inside"),
    Said(
        "Neo.DatabaseError.Statement.ExecutionFailed: too large to index",
        _WRONG,
        "too long for an index",
    ),
    Said("Neo.DatabaseError.Schema.ConstraintCreationFailed", _WRONG, "break a constraint"),
    Said("Neo.ClientError.Schema.ConstraintValidationFailed", _WRONG, "break a constraint"),
    Said("Neo.ClientError.Statement.AccessMode", _WRONG, "refuses a statement"),
    Said("HTTP 301", _MODEL_WRONG, "is at another address (HTTP 301): check OAI_BASE_URL"),
    Said("HTTP 400 context_length_exceeded", _MODEL_WRONG, "lower MAX_CHUNKS_FOR_PROMPT"),
    Said("HTTP 400 content_filter", "unusable_reply", "content_filter"),
    Said("HTTP 401", _MODEL_WRONG, "check OAI_KEY, or the role of the identity"),
    Said("HTTP 403", _MODEL_WRONG, "check OAI_KEY, or the role of the identity"),
    Said("HTTP 404", _MODEL_WRONG, "check OAI_MODEL, OAI_BASE_URL and OAI_API_VERSION"),
    Said(
        "HTTP 404 model_not_found",
        _MODEL_WRONG,
        "has no model of that name (HTTP 404): check OAI_MODEL",
    ),
    Said("HTTP 422", _MODEL_WRONG, "check that the model of OAI_MODEL takes what is sent"),
    Said("HTTP 429", _MODEL_AWAY, "too many requests"),
    Said(
        "HTTP 429 insufficient_quota", _MODEL_WRONG, "check the plan and the billing of its account"
    ),
    Said("HTTP 503", _MODEL_AWAY, "fails (HTTP 503)"),
)


def part_of_document() -> str:
    """Return the section of docs/faults.md: the errors of each code."""
    rows = []
    for code in dict.fromkeys(said.code for said in SAID):
        of = "; ".join(f"`{said.of}`" for said in SAID if said.code == code)
        rows.append(f"| `{code}` | {of} |")

    head = "The sentence in `detail` names what to check.\n\n| code | errors |\n| --- | --- |\n"
    return "\n## Codes of a server's own errors\n\n" + head + "\n".join(rows) + "\n"
