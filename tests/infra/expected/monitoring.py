"""What logs, telemetry and alerts have to be in a way to deploy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.infra.expected.names import Names, body, tags
from tests.infra.ways import Body, Way

WORKSPACE = "Microsoft.OperationalInsights/workspaces"
COMPONENT = "Microsoft.Insights/components"
ACTIONS = "Microsoft.Insights/actionGroups"
ALERT = "Microsoft.Insights/scheduledQueryRules"
TABLE = f"{WORKSPACE}/tables"
LINK_SCOPE = "Microsoft.Insights/privateLinkScopes"
DIAGNOSTICS = "Microsoft.Insights/diagnosticSettings"


TELEMETRY_TABLES = (
    "AppAvailabilityResults",
    "AppBrowserTimings",
    "AppDependencies",
    "AppEvents",
    "AppExceptions",
    "AppMetrics",
    "AppPageViews",
    "AppPerformanceCounters",
    "AppRequests",
    "AppSystemEvents",
    "AppTraces",
)
"""Those of Application Insights, which keep 90 days unless each is told."""


def telemetry(way: Way) -> Iterator[Body]:
    """The workspace, the component that takes telemetry from identities only, who gets mails."""
    names, mail = Names(way), way["alertEmail"]
    doors = {
        "publicNetworkAccessForIngestion": "Disabled" if way.private else "Enabled",
        "publicNetworkAccessForQuery": (
            "Disabled" if way["functionAccess"] == "private" else "Enabled"
        ),
    }
    yield body(
        way,
        names.workspace,
        WORKSPACE,
        {
            **doors,
            "retentionInDays": way["logRetentionDays"],
            "sku": {"name": "PerGB2018"},
            "workspaceCapping": {"dailyQuotaGb": way["logDailyQuotaGb"]},
        },
        tags=tags(way),
    )
    for table in TELEMETRY_TABLES:
        kept = dict.fromkeys(("retentionInDays", "totalRetentionInDays"), way["logRetentionDays"])
        yield body(way, f"{names.workspace}/tables/{table}", TABLE, {"plan": "Analytics", **kept})
    component = {
        "Application_Type": "web",
        "DisableLocalAuth": True,
        "IngestionMode": "LogAnalytics",
        "WorkspaceResourceId": names.workspace,
        **doors,
    }
    yield body(way, names.component, COMPONENT, component, kind="web", tags=tags(way))
    receivers = (
        [{"name": "operators", "emailAddress": mail, "useCommonAlertSchema": True}] if mail else []
    )
    group = {"emailReceivers": receivers, "enabled": True, "groupShortName": "drift"}
    yield body(way, names.action_group, ACTIONS, group, location="global", tags=tags(way))
    if way.private:
        yield from _reached_from_the_network(way)


def _reached_from_the_network(way: Way) -> Iterator[Body]:
    names = Names(way)
    modes = {"accessModeSettings": {"ingestionAccessMode": "Open", "queryAccessMode": "Open"}}
    yield body(way, names.link_scope, LINK_SCOPE, modes, location="global", tags=tags(way))
    for name, linked in (("workspace", names.workspace), ("component", names.component)):
        link = {"linkedResourceId": linked}
        one = f"{names.link_scope}/scopedResources/{name}"
        yield body(way, one, f"{LINK_SCOPE}/scopedResources", link)


LOGGED = {
    "vault": ("audit", ["AuditEvent"]),
    "openai": ("audit", ["Audit"]),
    "blobs": ("audit", ["StorageWrite", "StorageDelete"]),
    "redis": ("audit", ["ConnectionEvents"]),
    "site": ("log", ["FunctionAppLogs"]),
}
"""What is logged of each resource that is created: the setting's name and its categories."""


def diagnostics(way: Way) -> Iterator[Body]:
    """A diagnostic setting for everything that somebody can use or change."""
    names = Names(way)
    there = {
        "vault": not way["neo4jCredentialId"] and names.vault,
        "openai": way["openAiMode"] == "create" and names.openai,
        "blobs": f"{names.storage}/blobServices/default",
        "redis": way["redisMode"] == "create" and f"{names.redis}/databases/default",
        "site": names.site,
    }
    for what, resource in there.items():
        if resource:
            setting, categories = LOGGED[what]
            logs = [{"category": category, "enabled": True} for category in categories]
            yield {
                "id": f"{resource}/providers/{DIAGNOSTICS}/{setting}",
                "type": DIAGNOSTICS,
                "name": setting,
                "apiVersion": "2021-05-01-preview",
                "properties": {"logs": logs, "workspaceId": names.workspace},
            }


@dataclass(frozen=True)
class Alert:
    """An alert: how bad it is, when it is raised, and the query whose value is compared."""

    severity: int
    threshold: str | int
    description: str
    query: str


ALERTS = {
    "retrievals-fail": Alert(
        1,
        "alertFailurePercent",
        "More retrievals failed than are allowed to. Look at the codes of request_failed in the "
        "traces.",
        """\
requests
| where name in ('retrieve', 'rag_query')
| summarize total = count(), failed = countif(toint(resultCode) >= 500)
| where total >= 5
| project value = 100.0 * failed / total
""",
    ),
    "no-retrieval-succeeds": Alert(
        0,
        0,
        "Every retrieval of the last minutes failed: a server behind the function is down, or a "
        "setting is wrong.",
        """\
requests
| where name in ('retrieve', 'rag_query')
| summarize failed = countif(toint(resultCode) >= 500), succeeded = countif(toint(resultCode) < 400)
| where succeeded == 0
| project value = failed
""",
    ),
    "retrievals-are-slow": Alert(
        2,
        "alertRetrievalSeconds",
        "The slowest of twenty retrievals take longer than they should. Compare the phases in the "
        "traces.",
        """\
requests
| where name == 'retrieve' and toint(resultCode) < 400
| summarize total = count(), slow = percentile(duration, 95)
| where total >= 5
| project value = slow / 1000
""",
    ),
    "graph-is-unreachable": Alert(
        1,
        0,
        "Neo4j could not be reached: is the instance paused, is the allow list right, is the "
        "password the newest?",
        """\
traces
| where message has 'graph_unavailable'
| extend line = parse_json(message)
| where tostring(line.event) in ('retrieval_ended', 'rag_ended')
| where tostring(line.outcome) == 'graph_unavailable'
| summarize value = count()
""",
    ),
    "embeddings-are-slow": Alert(
        2,
        "alertEmbeddingSeconds",
        "The embedding of a question takes too long: look at the capacity of the deployment and at "
        "its throttling.",
        """\
traces
| where message has 'phase_ended' and message has 'embedding_s'
| extend line = parse_json(message)
| where tostring(line.phase) == 'expanding_query'
| summarize total = count(), slow = percentile(todouble(line.embedding_s), 95)
| where total >= 5
| project value = slow
""",
    ),
    "logs-are-dropped": Alert(
        1,
        0,
        "The daily cap of the logs is reached: until it is reset, no other alert can see anything. "
        "Raise logDailyQuotaGb, or find what writes so much.",
        """\
_LogOperation
| where Category =~ 'Ingestion' and Detail contains 'OverQuota'
| summarize value = count()
""",
    ),
}


def alerts(way: Way) -> Iterator[Body]:
    """Six alerts, each looked at every five minutes over the last fifteen."""
    names = Names(way)
    for name, alert in ALERTS.items():
        threshold: Any = (
            way[alert.threshold] if isinstance(alert.threshold, str) else alert.threshold
        )
        condition = {
            "failingPeriods": {"minFailingPeriodsToAlert": 1, "numberOfEvaluationPeriods": 1},
            "metricMeasureColumn": "value",
            "operator": "GreaterThan",
            "query": alert.query,
            "threshold": threshold,
            "timeAggregation": "Maximum",
        }
        properties = {
            "actions": {"actionGroups": [names.action_group]},
            "autoMitigate": True,
            "criteria": {"allOf": [condition]},
            "description": alert.description,
            "displayName": name,
            "enabled": True,
            "evaluationFrequency": "PT5M",
            "scopes": [names.workspace if name == "logs-are-dropped" else names.component],
            "severity": alert.severity,
            "skipQueryValidation": True,
            "windowSize": "PT15M",
        }
        yield body(
            way,
            names.id(ALERT, f"{names.component_name}-{name}"),
            ALERT,
            properties,
            kind="LogAlert",
            tags=tags(way),
        )
