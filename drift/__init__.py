"""DRIFT search over a Neo4j knowledge graph: answers with evidence that was checked.

`Drift` is the service in this process, `DriftClient` one over HTTP; `drift.sync` has both for
programs without an event loop. What is not named here is private. Names load when they are asked
for; `__init__.pyi` tells type checkers of them.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    name: f"drift.{home}"
    for home, names in {
        "client.answers": "Answer AnswerDelta AnswerReplaced Citations StreamEvent",
        "client.client": "DriftClient",
        "client.problems": "UnavailableError",
        "contracts.answer": "CitationOut KeyFact RetrieveResponse TraceNode",
        "contracts.documents": "IndexedOut",
        "contracts.evidence": "EvidenceAnswer PassageOut",
        "contracts.feedback": "Reason",
        "contracts.filter": "Filter",
        "contracts.progress": "ProgressMessage",
        "contracts.reading": "DocumentOut ProjectItem",
        "contracts.request": "Depth HistoryMessage Include RequestLimits",
        "core.errors": "BusyError ConflictError DriftError ForbiddenError InvalidRequestError "
        "NotConfiguredError NotFoundError ProjectHeldError QuotaError RequestError StoppingError "
        "UnauthenticatedError UpstreamError",
        "http.settings": "Settings",
        "local.in_process": "Drift",
    }.items()
    for name in names.split()
}
__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list of words


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'drift' has no attribute {name!r}")
    try:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        lacking = f"drift.{name} needs {error.name}: pip install 'drift-neo4j[service]'"
        raise ImportError(lacking, name=error.name) from error
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
