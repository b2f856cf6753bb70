// The vault with the only secrets there are: the password of the graph, and keys of callers where they are used.
targetScope = 'resourceGroup'

@description('Name of the vault.')
param name string

@description('Region.')
param location string

@description('Tags of every resource.')
param tags object

@description('Password of the Neo4j user.')
@secure()
param neo4jPassword string

@description('Whether neo4jPassword replaces the password that is there; otherwise it is only written where there is none.')
param replacePassword bool

@description('Keys of callers, as JSON; needed with withProjectKeys.')
@secure()
param projectKeys string?

@description('Whether the keys of callers stand in this vault.')
param withProjectKeys bool

@description('Whether projectKeys replaces the keys that are there; otherwise they are only written where there are none.')
param replaceProjectKeys bool

@description('Whether the vault can be reached from the internet, with a token.')
param publicAccess bool

@description('Whether a deleted vault has to stay until its retention is over.')
param purgeProtection bool

@description('Days after which a deleted vault or secret is gone; fixed once the vault exists.')
param softDeleteRetentionDays int

@description('Workspace of the audit log.')
param workspaceId string

var contentType = 'text/plain; password of the Neo4j user that the function signs in with'
var keysContentType = 'application/json; keys of callers, by their hashes'

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
      // in a private way no service of Azure is let past the endpoint either
      bypass: publicAccess ? 'AzureServices' : 'None'
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

@onlyIfNotExists()
resource projectKeysSecret 'Microsoft.KeyVault/vaults/secrets@2026-05-15' = if (withProjectKeys && !replaceProjectKeys) {
  parent: vault
  name: 'project-keys'
  tags: tags
  properties: {
    contentType: keysContentType
    value: projectKeys
  }
}

resource replacedProjectKeysSecret 'Microsoft.KeyVault/vaults/secrets@2026-05-15' = if (withProjectKeys && replaceProjectKeys) {
  parent: vault
  name: 'project-keys'
  tags: tags
  properties: {
    contentType: keysContentType
    value: projectKeys
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
