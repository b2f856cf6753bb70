// Logs, telemetry and alerts; telemetry is accepted from identities only, and in a private way from the network only.
targetScope = 'resourceGroup'

@description('Name of the Log Analytics workspace.')
param workspaceName string

@description('Name of the Application Insights component.')
param applicationInsightsName string

@description('Name of the group that alerts are sent to.')
param actionGroupName string

@description('Region.')
param location string

@description('Tags of every resource.')
param tags object

@description('Name of the scope that lets a network reach the logs; empty: none is created.')
param privateLinkScopeName string

@description('Whether logs and telemetry are taken from the internet, with a token.')
param publicAccess bool

@description('Whether logs can be read from the internet, with a token, as the portal does.')
param publicQueries bool

@description('Days that logs are kept.')
param retentionDays int

@description('Most GB of logs a day; what comes after is dropped.')
param dailyQuotaGb int

@description('Who gets alerts by mail; empty: alerts are seen in the portal only.')
param alertEmail string

@description('Percentage of failed retrievals that raises an alert.')
param alertFailurePercent int

@description('Seconds that 95 of 100 retrievals have to stay under.')
param alertRetrievalSeconds int

@description('Seconds that 95 of 100 embeddings of a question have to stay under.')
param alertEmbeddingSeconds int

// Each query gives one row with a column `value`, or none. Requests are the platform's own record and are never sampled;
// the lines of JSON in `traces` are those of the application.
var alerts = [
  {
    name: 'retrievals-fail'
    description: 'More retrievals failed than are allowed to. Look at the codes of request_failed in the traces.'
    severity: 1
    threshold: alertFailurePercent
    query: '''
requests
| where name in ('retrieve', 'rag_query')
| summarize total = count(), failed = countif(toint(resultCode) >= 500)
| where total >= 5
| project value = 100.0 * failed / total
'''
  }
  {
    name: 'no-retrieval-succeeds'
    description: 'Every retrieval of the last minutes failed: a server behind the function is down, or a setting is wrong.'
    severity: 0
    threshold: 0
    query: '''
requests
| where name in ('retrieve', 'rag_query')
| summarize failed = countif(toint(resultCode) >= 500), succeeded = countif(toint(resultCode) < 400)
| where succeeded == 0
| project value = failed
'''
  }
  {
    name: 'retrievals-are-slow'
    description: 'The slowest of twenty retrievals take longer than they should. Compare the phases in the traces.'
    severity: 2
    threshold: alertRetrievalSeconds
    query: '''
requests
| where name == 'retrieve' and toint(resultCode) < 400
| summarize total = count(), slow = percentile(duration, 95)
| where total >= 5
| project value = slow / 1000
'''
  }
  {
    name: 'graph-is-unreachable'
    description: 'Neo4j could not be reached: is the instance paused, is the allow list right, is the password the newest?'
    severity: 1
    threshold: 0
    query: '''
traces
| where message has 'graph_unavailable'
| extend line = parse_json(message)
| where tostring(line.event) in ('retrieval_ended', 'rag_ended')
| where tostring(line.outcome) == 'graph_unavailable'
| summarize value = count()
'''
  }
  {
    name: 'embeddings-are-slow'
    description: 'The embedding of a question takes too long: look at the capacity of the deployment and at its throttling.'
    severity: 2
    threshold: alertEmbeddingSeconds
    query: '''
traces
| where message has 'phase_ended' and message has 'embedding_s'
| extend line = parse_json(message)
| where tostring(line.phase) == 'expanding_query'
| summarize total = count(), slow = percentile(todouble(line.embedding_s), 95)
| where total >= 5
| project value = slow
'''
  }
  {
    name: 'logs-are-dropped'
    description: 'The daily cap of the logs is reached: until it is reset, no other alert can see anything. Raise logDailyQuotaGb, or find what writes so much.'
    severity: 1
    threshold: 0
    // the workspace writes this itself, also when it takes nothing else
    query: '''
_LogOperation
| where Category =~ 'Ingestion' and Detail contains 'OverQuota'
| summarize value = count()
'''
  }
]

// These keep telemetry for 90 days, whatever the workspace says, unless each is told.
var telemetryTables = [
  'AppAvailabilityResults'
  'AppBrowserTimings'
  'AppDependencies'
  'AppEvents'
  'AppExceptions'
  'AppMetrics'
  'AppPageViews'
  'AppPerformanceCounters'
  'AppRequests'
  'AppSystemEvents'
  'AppTraces'
]

var ingestionAccess = publicAccess ? 'Enabled' : 'Disabled'
var queryAccess = publicQueries ? 'Enabled' : 'Disabled'

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-02-01' = {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    publicNetworkAccessForIngestion: ingestionAccess
    publicNetworkAccessForQuery: queryAccess
    retentionInDays: retentionDays
    sku: {
      name: 'PerGB2018'
    }
    workspaceCapping: {
      dailyQuotaGb: dailyQuotaGb
    }
  }
}

// one after the other: each is a change of the same workspace
@batchSize(1)
resource table 'Microsoft.OperationalInsights/workspaces/tables@2025-02-01' = [
  for tableName in telemetryTables: {
    parent: workspace
    name: tableName
    properties: {
      plan: 'Analytics'
      retentionInDays: retentionDays
      totalRetentionInDays: retentionDays
    }
  }
]

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' = {
  name: applicationInsightsName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    DisableLocalAuth: true
    IngestionMode: 'LogAnalytics'
    WorkspaceResourceId: workspace.id
    publicNetworkAccessForIngestion: ingestionAccess
    publicNetworkAccessForQuery: queryAccess
  }
}

// Open: what else the network sends to, workspaces and components of others, stays as reachable as it was.
resource privateLinkScope 'Microsoft.Insights/privateLinkScopes@2021-09-01' = if (!empty(privateLinkScopeName)) {
  name: privateLinkScopeName
  location: 'global'
  tags: tags
  properties: {
    accessModeSettings: {
      ingestionAccessMode: 'Open'
      queryAccessMode: 'Open'
    }
  }
}

resource actionGroup 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: actionGroupName
  location: 'global'
  tags: tags
  properties: {
    emailReceivers: empty(alertEmail)
      ? []
      : [
          {
            name: 'operators'
            emailAddress: alertEmail
            useCommonAlertSchema: true
          }
        ]
    enabled: true
    groupShortName: 'drift'
  }
}

resource alert 'Microsoft.Insights/scheduledQueryRules@2026-03-01' = [
  for rule in alerts: {
    name: '${applicationInsightsName}-${rule.name}'
    location: location
    tags: tags
    kind: 'LogAlert'
    properties: {
      actions: {
        actionGroups: [
          actionGroup.id
        ]
      }
      autoMitigate: true
      criteria: {
        allOf: [
          {
            failingPeriods: {
              minFailingPeriodsToAlert: 1
              numberOfEvaluationPeriods: 1
            }
            metricMeasureColumn: 'value'
            operator: 'GreaterThan'
            query: rule.query
            threshold: rule.threshold
            timeAggregation: 'Maximum'
          }
        ]
      }
      description: rule.description
      displayName: rule.name
      enabled: true
      evaluationFrequency: 'PT5M'
      scopes: [
        rule.name == 'logs-are-dropped' ? workspace.id : applicationInsights.id
      ]
      severity: rule.severity
      // the tables are empty until the first request
      skipQueryValidation: true
      windowSize: 'PT15M'
    }
  }
]

@description('Resource id of the workspace, for diagnostic settings.')
output workspaceId string = workspace.id

@description('Name of the component, for its role and for the site.')
output applicationInsightsName string = applicationInsights.name
