// Lets identities use the one secret, in a vault made by this template or by others; never the rest of the vault.
targetScope = 'resourceGroup'

import { principal } from '../types.bicep'

@description('Name of the vault.')
param keyVaultName string

@description('Name of the secret.')
param secretName string

@description('Object id of the function identity.')
param principalId string

@description('A developer who may read the secret as well; nobody where it is not given.')
param developer principal?

@description('An operator who may write the secret; nobody where it is not given.')
param officer principal?

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

resource developerReadsSecret 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (developer != null) {
  scope: secret
  name: guid(secret.id, developer!.id, secretsUser)
  properties: {
    principalId: developer!.id
    principalType: developer!.type
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsUser)
  }
}

resource officerWritesSecret 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (officer != null) {
  scope: secret
  name: guid(secret.id, officer!.id, secretsOfficer)
  properties: {
    principalId: officer!.id
    principalType: officer!.type
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsOfficer)
  }
}
