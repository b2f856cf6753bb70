// Lets identities use the one secret, in a vault made by this template or by others; never the rest of the vault.
targetScope = 'resourceGroup'

@description('Name of the vault.')
@minLength(3)
@maxLength(24)
param keyVaultName string

@description('Name of the secret.')
@minLength(1)
@maxLength(127)
param secretName string

@description('Object id of the function identity.')
@minLength(36)
@maxLength(36)
param principalId string

@description('Object id of a developer who may read the secret as well; empty: nobody.')
@maxLength(36)
param developerPrincipalId string = ''

@description('What the developer principal is.')
@allowed([
  'User'
  'Group'
  'ServicePrincipal'
])
param developerPrincipalType string = 'User'

@description('Object id of an operator who may write the secret; empty: nobody.')
@maxLength(36)
param officerPrincipalId string = ''

@description('What the operator is.')
@allowed([
  'User'
  'Group'
  'ServicePrincipal'
])
param officerPrincipalType string = 'User'

var secretsUser = '4633458b-17de-408a-b874-0445c86b69e6' // Key Vault Secrets User
var secretsOfficer = 'b86a8fe4-44ce-4948-aee5-eccb2c155cd7' // Key Vault Secrets Officer

resource vault 'Microsoft.KeyVault/vaults@2026-05-15' existing = {
  name: keyVaultName
}

resource secret 'Microsoft.KeyVault/vaults/secrets@2026-05-15' existing = {
  parent: vault
  name: secretName
}

resource functionReadsSecret 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: secret
  name: guid(secret.id, principalId, secretsUser)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsUser)
  }
}

resource developerReadsSecret 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(developerPrincipalId)) {
  scope: secret
  name: guid(secret.id, developerPrincipalId, secretsUser)
  properties: {
    principalId: developerPrincipalId
    principalType: developerPrincipalType
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsUser)
  }
}

resource officerWritesSecret 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(officerPrincipalId)) {
  scope: secret
  name: guid(secret.id, officerPrincipalId, secretsOfficer)
  properties: {
    principalId: officerPrincipalId
    principalType: officerPrincipalType
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsOfficer)
  }
}

@description('Address of the newest version of the secret: a new version is picked up without a deployment.')
output referenceUri string = '${vault.properties.vaultUri}secrets/${secretName}'
