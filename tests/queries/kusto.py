"""Every query of the documents and of the alerts.

Kusto's own language service, run offline, binds them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.lint.node_packages import installed, node

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LOCK = HERE / "package-lock.json"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_COMMON = (
    "timestamp: datetime, itemType: string, customDimensions: dynamic, customMeasurements: "
    "dynamic, operation_Name: string, operation_Id: string, operation_ParentId: string, "
    "operation_SyntheticSource: string, session_Id: string, user_Id: string, user_AuthenticatedId: "
    "string, user_AccountId: string, application_Version: string, client_Type: string, "
    "client_Model: string, client_OS: string, client_IP: string, client_City: string, "
    "client_StateOrProvince: string, client_CountryOrRegion: string, client_Browser: string, "
    "cloud_RoleName: string, cloud_RoleInstance: string, appId: string, appName: string, iKey: "
    "string, sdkVersion: string, itemId: string, itemCount: int"
)
TABLES = {
    "requests": "id: string, source: string, name: string, url: string, success: string, "
    f"resultCode: string, duration: real, performanceBucket: string, {_COMMON}",
    "traces": f"message: string, severityLevel: int, {_COMMON}",
    "availabilityResults": f"id: string, name: string, location: string, success: string, message: "
    f"string, size: real, duration: real, performanceBucket: string, {_COMMON}",
    "AzureDiagnostics": "TimeGenerated: datetime, ResourceProvider: string, Resource: string, "
    "OperationName: string, Category: string, ResultType: string, id_s: string",
    "_LogOperation": "TimeGenerated: datetime, Level: string, Operation: string, Category: string, "
    "Detail: string, Computer: string, Type: string, _ResourceId: string",
}
"""The tables of Application Insights that queries read, and the workspace's own of what it did with
them, with their columns."""

_BLOCK = re.compile(r"^```kusto\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_OPERATOR = re.compile(r"\|\s*(where|extend|project|summarize|order|sort|top|take|count|join)\b")


@dataclass(frozen=True, slots=True)
class Bound:
    """What the service says about a query.

    Its `errors`, and the `columns` of its result with their types.
    """

    errors: list[str]
    columns: dict[str, str]


def bind(queries: Mapping[str, str]) -> dict[str, Bound]:
    """Parse and bind each query by itself against `TABLES`, all in one process."""
    asked = json.dumps({"tables": TABLES, "queries": queries})
    output = node(HERE / "bind.mjs", str(installed(HERE, "kusto-binding")), text=asked)
    return {name: Bound(**found) for name, found in json.loads(output).items()}


def of_document(text: str) -> list[str]:
    """Return the queries of a document as a reader runs them.

    The portal runs what stands around the cursor up to the next empty line, so an empty line ends a
    query also inside a block. A query inside a sentence or a table stands between backticks.
    """
    blocks = _BLOCK.findall(text)
    pieces = [piece.strip() for block in blocks for piece in re.split(r"\n[ \t]*\n", block)]
    prose = _BLOCK.sub("", text)
    inline = [span.replace("\\|", "|") for span in _INLINE.findall(prose)]
    return [piece for piece in pieces if piece] + [
        span for span in inline if _OPERATOR.search(span)
    ]


def of_documents() -> dict[str, str]:
    """Return the queries of all documents, named by document and position."""
    return {
        f"{path.name} {number}": query
        for path in DOCUMENTS
        for number, query in enumerate(of_document(path.read_text(encoding="utf-8")), 1)
    }


def of_workbook() -> dict[str, str]:
    """Return the queries of the workbook, named by their titles."""
    workbook = json.loads((ROOT / "infra/workbook.json").read_text(encoding="utf-8"))
    asked = (item["content"] for item in workbook["items"] if item["type"] == KUSTO_ITEM)
    return {one["title"]: one["query"].strip() for one in asked}


KUSTO_ITEM = 3
"""The type of an item of a workbook that shows what a query finds."""


def of_alerts() -> dict[str, str]:
    """Return the queries of the alerts in the templates, named by the alert."""
    entry = re.compile(
        r"\n\s*name: '([^']+)'(?:(?!\n\s*name: ').)*?\n\s*query: '''\n(.*?)'''", re.DOTALL
    )
    texts = (path.read_text(encoding="utf-8") for path in sorted((ROOT / "infra").rglob("*.bicep")))
    return {name: query.strip() for text in texts for name, query in entry.findall(text)}
