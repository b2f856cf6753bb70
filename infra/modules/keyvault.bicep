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

resource vault 'Microsoft.KeyVault/vaults@2024-11-01' = {
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

resource graphSecret 'Microsoft.KeyVault/vaults/secrets@2024-11-01' = {
  parent: vault
  name: 'neo4j-password'
  tags: tags
  properties: {
    contentType: 'text/plain; password of the Neo4j user that the function signs in with'
    value: neo4jPassword
  }
}

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

@description('Resource id, for the private endpoint.')
output id string = vault.id

@description('Address of the newest version of the secret: a new version is picked up without a deployment.')
output neo4jReferenceUri string = graphSecret.properties.secretUri
