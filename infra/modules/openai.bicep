// Azure OpenAI with the chat and the embedding deployment; no keys.
targetScope = 'resourceGroup'

@description('Name of the account, and of its own domain, which tokens need.')
param name string

@description('Region.')
param location string

@description('Tags of every resource.')
param tags object

@description('Deployments to make, each {deployment, model, version, sku, capacity}.')
param deployments array

@description('Whether the account can be reached from the internet, with a token.')
param publicAccess bool

@description('Workspace of the audit log.')
param workspaceId string

resource account 'Microsoft.CognitiveServices/accounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'OpenAI'
  sku: {
    name: 'S0'
  }
  properties: {
    customSubDomainName: name
    disableLocalAuth: true
    networkAcls: {
      defaultAction: publicAccess ? 'Allow' : 'Deny'
    }
    publicNetworkAccess: publicAccess ? 'Enabled' : 'Disabled'
  }
}

// one after the other: the service refuses two at a time
@batchSize(1)
resource models 'Microsoft.CognitiveServices/accounts/deployments@2025-06-01' = [
  for item in deployments: {
    parent: account
    name: item.deployment
    sku: {
      name: item.sku
      capacity: item.capacity
    }
    properties: {
      model: {
        format: 'OpenAI'
        name: item.model
        version: item.version
      }
      versionUpgradeOption: 'OnceCurrentVersionExpired'
    }
  }
]

// the one finished version is of 2016 and knows no audit logs by name
#disable-next-line use-recent-api-versions
resource audit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: account
  name: 'audit'
  properties: {
    logs: [
      {
        category: 'Audit'
        enabled: true
      }
    ]
    workspaceId: workspaceId
  }
}

@description('Resource id, for the private endpoint and the role.')
output id string = account.id
