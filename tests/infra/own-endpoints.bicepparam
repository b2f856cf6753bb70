// Everything of yours has its endpoints already, and the network is yours: only storage and the site get theirs here.
// The names are the longest that there are. Not a way to deploy.
using '../../infra/main.bicep'

param environmentName = 'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
param location = 'germanywestcentral'
param developer = {
  id: '44444444-4444-4444-4444-444444444444'
  type: 'User'
}
param vaultOfficer = {
  id: '55555555-5555-5555-5555-555555555555'
  type: 'User'
}
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param credentialIds = {
  NEO4J_PASSWORD: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/secrets-of-the-team/secrets/neo4j'
  PROJECT_KEYS: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/keys-of-the-team/secrets/callers'
}

param authMode = 'keys'
param openAiMode = 'existing'
param openAiExistingId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.CognitiveServices/accounts/models'
param redisMode = 'existing'
param redisExistingId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.Cache/redisEnterprise/cache'
param vnetEnabled = true
param existingAppSubnetId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/hub/subnets/functions'
param existingEndpointSubnetId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/hub/subnets/endpoints'
param existingEndpointsEnabled = false
