// Claude in Foundry writes the replies; the function's identity signs in there.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
  CHAT_PROVIDER: 'anthropic'
  OAI_MODEL: 'claude-sonnet'
  ANTHROPIC_BASE_URL: 'https://name.services.ai.azure.com/anthropic/'
}
param foundryExistingIds = ['/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.CognitiveServices/accounts/name']
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')
