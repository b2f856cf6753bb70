// Logs and telemetry; telemetry is accepted from identities only, and in a private way from the network only.
targetScope = 'resourceGroup'

@description('Name of the Log Analytics workspace.')
param workspaceName string

@description('Name of the Application Insights component.')
param applicationInsightsName string

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

@description('Resource id of the workspace, for diagnostic settings.')
output workspaceId string = workspace.id

@description('Name of the component, for its role and for the site.')
output applicationInsightsName string = applicationInsights.name
