// The account that the Functions host and the deployment package need; no shared keys, no public blobs.
targetScope = 'resourceGroup'

@description('Name of the storage account.')
param name string

@description('Region.')
param location string

@description('Tags of every resource.')
param tags object

@description('Redundancy.')
param skuName 'Standard_LRS' | 'Standard_ZRS' | 'Standard_GRS' | 'Standard_GZRS'

@description('Name of the container that deployments are uploaded to.')
param containerName string

@description('Whether the account can be reached from the internet, with a token.')
param publicAccess bool

@description('Days after which deleted blobs are gone.')
param deleteRetentionDays int = 7

@description('Workspace of the audit log.')
param workspaceId string

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: {
    name: skuName
  }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    networkAcls: {
      bypass: publicAccess ? 'AzureServices' : 'None'
      defaultAction: publicAccess ? 'Allow' : 'Deny'
    }
    publicNetworkAccess: publicAccess ? 'Enabled' : 'Disabled'
    supportsHttpsTrafficOnly: true
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {
    containerDeleteRetentionPolicy: {
      enabled: true
      days: deleteRetentionDays
    }
    deleteRetentionPolicy: {
      enabled: true
      days: deleteRetentionDays
    }
  }
}

resource container 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = {
  parent: blobs
  name: containerName
  properties: {
    publicAccess: 'None'
  }
}

// The package itself stays as it is: a site that lost its package does not start again.
resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {
    policy: {
      rules: [
        {
          name: 'forget-snapshots'
          enabled: true
          type: 'Lifecycle'
          definition: {
            actions: {
              snapshot: {
                delete: {
                  daysAfterCreationGreaterThan: 30
                }
              }
            }
            filters: {
              blobTypes: [
                'blockBlob'
              ]
            }
          }
        }
      ]
    }
  }
  dependsOn: [
    blobs
  ]
}

// the one finished version is of 2016 and knows no audit logs by name
#disable-next-line use-recent-api-versions
resource audit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: blobs
  name: 'audit'
  properties: {
    logs: [
      {
        category: 'StorageWrite'
        enabled: true
      }
      {
        category: 'StorageDelete'
        enabled: true
      }
    ]
    workspaceId: workspaceId
  }
}

@description('Resource id, for the private endpoint.')
output id string = account.id

@description('Where the host keeps its state.')
output blobEndpoint string = account.properties.primaryEndpoints.blob

@description('The container of the deployment package.')
output containerUrl string = '${account.properties.primaryEndpoints.blob}${container.name}'
