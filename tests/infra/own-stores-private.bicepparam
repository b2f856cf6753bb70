// Private, with secrets and models of yours and without Redis: what is yours gets an endpoint, what is off gets none. The
// keys and the token of Milvus stand in the same vault as the password, written otherwise. Not a way to deploy.
using '../../infra/main.bicep'

param environmentName = 'own'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
  VECTOR_STORE: 'milvus'
  MILVUS_URI: 'https://in03-0a1b2c3d.serverless.azure-eastus.cloud.zilliz.com'
}
param credentialIds = {
  NEO4J_PASSWORD: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/secrets-of-the-team/secrets/neo4j'
  PROJECT_KEYS: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/Secrets-of-the-team/secrets/callers'
  MILVUS_TOKEN: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/Secrets-of-the-team/secrets/milvus'
}

param authMode = 'keys'
param openAiMode = 'existing'
param openAiExistingId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.CognitiveServices/accounts/models'
param redisMode = 'off'
param vnetEnabled = true
param privateDnsZonesEnabled = false
param functionAccess = 'deployOnly'
param existingMonitorScopeId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.Insights/privateLinkScopes/hub'
