// Models and Redis that are there already, behind private endpoints in the function's network.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')

param openAiMode = 'existing'
param openAiExistingId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.CognitiveServices/accounts/models'
param redisMode = 'existing'
param redisExistingId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.Cache/redisEnterprise/cache'
param vnetEnabled = true
