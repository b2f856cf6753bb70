// Lets identities use the models of an Azure OpenAI account that is there, made by this template or by others.
targetScope = 'resourceGroup'

import { principal } from '../types.bicep'

@description('Name of the account.')
param accountName string

@description('Object id of the function identity.')
param principalId string

@description('A developer who may use the models as well; nobody where it is not given.')
param developer principal?

var openAiUser = '5e0bd9bd-7b93-4f28-af87-19fc36ad61bd' // Cognitive Services OpenAI User

resource account 'Microsoft.CognitiveServices/accounts@2025-06-01' existing = {
  name: accountName
}

resource functionUsesModels 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: account
  name: guid(account.id, principalId, openAiUser)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', openAiUser)
  }
}

resource developerUsesModels 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (developer != null) {
  scope: account
  name: guid(account.id, developer!.id, openAiUser)
  properties: {
    principalId: developer!.id
    principalType: developer!.type
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', openAiUser)
  }
}

@description('Root of the account, for OAI_BASE_URL.')
output endpoint string = account.properties.endpoint
