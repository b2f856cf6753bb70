// What wakes an operator: alerts over the log, and a probe from outside that costs no model call.
targetScope = 'resourceGroup'

import { alertLimits } from '../types.bicep'

@description('Name of the group that alerts are sent to.')
param actionGroupName string

@description('Name of the Application Insights component.')
param applicationInsightsName string

@description('Who is told, and from when on.')
param limits alertLimits

@description('Region.')
param location string

@description('Address that the probe asks; empty: the function cannot be reached from outside, and nothing asks it.')
param probedUrl string

@description('Tags of every resource.')
param tags object

@description('Resource id of the workspace.')
param workspaceId string

// Each query gives one row with a column `value`, or none. Requests are the platform's own record and are never sampled;
// the lines of JSON in `traces` are those of the application.
var alerts = [
  {
    name: 'retrievals-fail'
    description: 'More retrievals failed than are allowed to. Look at the codes of request_failed in the traces.'
    severity: 1
    threshold: limits.failurePercent
    query: '''
requests
| where name in ('retrieve', 'rag_query', 'chat_completions', 'vector_store_search', 'dify_retrieval', 'mcp')
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
| where name in ('retrieve', 'rag_query', 'chat_completions', 'vector_store_search', 'dify_retrieval', 'mcp')
| summarize failed = countif(toint(resultCode) >= 500), succeeded = countif(toint(resultCode) < 400)
| where succeeded == 0
| project value = failed
'''
  }
  {
    name: 'retrievals-are-slow'
    description: 'The slowest of twenty retrievals take longer than they should. Compare the phases in the traces.'
    severity: 2
    threshold: limits.retrievalSeconds
    query: '''
requests
| where name in ('retrieve', 'chat_completions', 'mcp') and toint(resultCode) < 400
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
    description: 'The embedding of a question takes too long, here or at /api/rag/query: look at the capacity of the deployment and at its throttling.'
    severity: 2
    threshold: limits.embeddingSeconds
    query: '''
traces
| where message has 'embedding_s'
| extend line = parse_json(message)
| where tostring(line.event) in ('phase_ended', 'rag_ended')
| where isempty(tostring(line.phase)) or tostring(line.phase) == 'expanding_query'
| summarize total = count(), slow = percentile(todouble(line.embedding_s), 95)
| where total >= 5
| project value = slow
'''
  }
  {
    name: 'embeddings-fail'
    description: 'Texts could not be embedded, of questions, documents or nodes: embedding_failed says which and why.'
    severity: 2
    threshold: 0
    query: '''
traces
| where message has 'embedding_failed'
| extend line = parse_json(message)
| where tostring(line.event) == 'embedding_failed'
| summarize value = count()
'''
  }
  {
    name: 'model-is-throttled'
    description: 'The model server refuses calls for their number (429): answers get slow. Raise the capacity of the deployment, or lower MAX_FOLLOWUPS.'
    severity: 2
    threshold: 20
    query: '''
traces
| where message has 'retrying'
| extend line = parse_json(message)
| where tostring(line.event) == 'retrying' and tostring(line.cause) has '429'
| summarize value = count()
'''
  }
  {
    name: 'vector-store-is-down'
    description: 'Milvus does not answer, so vectors are not found: is it running, is its token the newest?'
    severity: 1
    threshold: 0
    query: '''
traces
| where message has 'vector_store_failed'
| extend line = parse_json(message)
| where tostring(line.event) == 'vector_store_failed'
| summarize value = count()
'''
  }
  {
    name: 'redis-is-down'
    description: 'Redis does not answer: nobody sees progress, quotas count in each process alone, nothing is cached.'
    severity: 2
    threshold: 0
    query: '''
traces
| where message startswith '{"event"'
| extend line = parse_json(message)
| where tostring(line.event) in ('progress_publish_failed', 'quota_counting_failed', 'embedding_cache_failed', 'answer_cache_failed')
| summarize value = count()
'''
  }
  {
    name: 'secret-is-unresolved'
    description: 'A reference to a secret is not resolved, so nobody is answered: look at the role of the function on the vault, then refresh the references (docs/deploy.md).'
    severity: 0
    threshold: 0
    query: '''
traces
| where message has 'unresolved Key Vault reference'
| extend line = parse_json(message)
| where tostring(line.event) == 'request_failed'
| summarize value = count()
'''
  }
  {
    name: 'quotas-are-used-up'
    description: 'Callers are refused since their quota is used up: quota_exceeded names the key.'
    severity: 3
    threshold: 50
    query: '''
traces
| where message has 'quota_exceeded'
| extend line = parse_json(message)
| where tostring(line.event) == 'quota_exceeded'
| summarize value = count()
'''
  }
  {
    name: 'secret-expires'
    description: 'A secret of the created vault expires within 30 days, or has: write a new version (docs/deploy.md, Rotating).'
    severity: 1
    threshold: 0
    query: '''
AzureDiagnostics
| where ResourceProvider == 'MICROSOFT.KEYVAULT'
| where OperationName in ('SecretNearExpiryEventGridNotification', 'SecretExpiredEventGridNotification')
| summarize value = count()
'''
  }
  {
    name: 'probe-fails'
    description: 'From outside /health/live does not answer: nobody can ask. Look at the state of the function app, then at service_build_failed.'
    severity: 0
    threshold: 1
    query: '''
availabilityResults
| where success == '0'
| summarize value = count()
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

// these two read what the workspace and the vault write themselves
var ofWorkspace = ['logs-are-dropped', 'secret-expires']

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: applicationInsightsName
}

resource actionGroup 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: actionGroupName
  location: 'global'
  tags: tags
  properties: {
    emailReceivers: empty(limits.email)
      ? []
      : [
          {
            name: 'operators'
            emailAddress: limits.email
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
        contains(ofWorkspace, rule.name) ? workspaceId : applicationInsights.id
      ]
      severity: rule.severity
      // the tables are empty until the first request
      skipQueryValidation: true
      windowSize: 'PT15M'
    }
  }
]

// three places every fifteen minutes; one that fails is asked again before it counts
resource probe 'Microsoft.Insights/webtests@2022-06-15' = if (!empty(probedUrl)) {
  name: '${applicationInsightsName}-probe'
  location: location
  tags: union(tags, { 'hidden-link:${applicationInsights.id}': 'Resource' })
  kind: 'standard'
  properties: {
    Enabled: true
    Frequency: 900
    Kind: 'standard'
    Locations: [
      { Id: 'emea-nl-ams-azr' }
      { Id: 'us-va-ash-azr' }
      { Id: 'apac-sg-sin-azr' }
    ]
    Name: 'probe'
    Request: {
      HttpVerb: 'GET'
      RequestUrl: probedUrl
    }
    RetryEnabled: true
    SyntheticMonitorId: '${applicationInsightsName}-probe'
    Timeout: 120
    ValidationRules: {
      ExpectedHttpStatusCode: 200
      SSLCheck: true
      SSLCertRemainingLifetimeCheck: 7
    }
  }
}

// one page of what the log says: requests, seconds, verdicts, tokens and cost
resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(applicationInsights.id, 'workbook')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    category: 'workbook'
    displayName: 'Answers of ${applicationInsightsName}'
    serializedData: string(loadJsonContent('../workbook.json'))
    sourceId: applicationInsights.id
  }
}
