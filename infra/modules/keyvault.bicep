// The vault with the only secret there is: the password of the graph.
targetScope = 'resourceGroup'

@description('Name of the vault.')
@maxLength(24)
param name string

@description('Region.')
@minLength(1)
param location string

@description('Tags of every resource.')
param tags object

@description('Password of the Neo4j user.')
@secure()
@minLength(8)
@maxLength(1024)
param neo4jPassword string

@description('Whether neo4jPassword replaces the password that is there; otherwise it is only written where there is none.')
param replacePassword bool

@description('Whether the vault can be reached from the internet, with a token.')
param publicAccess bool

@description('Whether a deleted vault has to stay until its retention is over.')
param purgeProtection bool

@description('Days after which a deleted vault or secret is gone; fixed once the vault exists.')
@minValue(7)
@maxValue(90)
param softDeleteRetentionDays int

@description('Workspace of the audit log.')
@minLength(1)
param workspaceId string

var contentType = 'text/plain; password of the Neo4j user that the function signs in with'

resource vault 'Microsoft.KeyVault/vaults@2026-05-15' = {
  name: name
  location: location
  tags: tags
  properties: {
    // the platform knows no false here: once protected, always protected
    enablePurgeProtection: purgeProtection ? true : null
    enableRbacAuthorization: true
    enableSoftDelete: true
    networkAcls: {
      bypass: 'AzureServices'
      defaultAction: publicAccess ? 'Allow' : 'Deny'
    }
    publicNetworkAccess: publicAccess ? 'Enabled' : 'Disabled'
    sku: {
      family: 'A'
      name: 'standard'
    }
    softDeleteRetentionInDays: softDeleteRetentionDays
    tenantId: tenant().tenantId
  }
}

// The same secret twice: the decorator takes no condition.
@onlyIfNotExists()
resource graphSecret 'Microsoft.KeyVault/vaults/secrets@2026-05-15' = if (!replacePassword) {
  parent: vault
  name: 'neo4j-password'
  tags: tags
  properties: {
    contentType: contentType
    value: neo4jPassword
  }
}

resource replacedGraphSecret 'Microsoft.KeyVault/vaults/secrets@2026-05-15' = if (replacePassword) {
  parent: vault
  name: 'neo4j-password'
  tags: tags
  properties: {
    contentType: contentType
    value: neo4jPassword
  }
}

// the one finished version is of 2016 and knows no audit logs by name
#disable-next-line use-recent-api-versions
resource audit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: vault
  name: 'audit'
  properties: {
    logs: [
      {
        category: 'AuditEvent'
        enabled: true
      }
    ]
    workspaceId: workspaceId
  }
}
