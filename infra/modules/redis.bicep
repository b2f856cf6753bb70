// Azure Managed Redis for progress messages and the cache: one endpoint, TLS, Entra ID only.
targetScope = 'resourceGroup'

@description('Name of the cluster.')
param name string

@description('Region.')
param location string

@description('Tags of every resource.')
param tags object

@description('Size of the cluster.')
param skuName string

@description('Whether a replica stands by; doubles the price.')
param highAvailability bool

@description('Whether the cluster can be reached from the internet, with a token.')
param publicAccess bool

@description('Workspace of the audit log.')
param workspaceId string

resource cluster 'Microsoft.Cache/redisEnterprise@2025-07-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: skuName
  }
  properties: {
    highAvailability: highAvailability ? 'Enabled' : 'Disabled'
    minimumTlsVersion: '1.2'
    publicNetworkAccess: publicAccess ? 'Enabled' : 'Disabled'
  }
}

// NoCluster: one endpoint that every client can speak to, and the only policy that can still be changed.
resource database 'Microsoft.Cache/redisEnterprise/databases@2025-07-01' = {
  parent: cluster
  name: 'default'
  properties: {
    accessKeysAuthentication: 'Disabled'
    clientProtocol: 'Encrypted'
    clusteringPolicy: 'NoCluster'
    evictionPolicy: 'VolatileLRU'
    port: 10000
  }
}

// the one finished version is of 2016 and knows no audit logs by name
#disable-next-line use-recent-api-versions
resource audit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: database
  name: 'audit'
  properties: {
    logs: [
      {
        category: 'ConnectionEvents'
        enabled: true
      }
    ]
    workspaceId: workspaceId
  }
}

@description('Resource id, for the private endpoint and the access policy.')
output id string = cluster.id
