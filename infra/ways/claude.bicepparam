// Claude in Foundry writes the replies; the function's identity signs in there.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param neo4jUri = 'neo4j+s://0a1b2c3d.databases.neo4j.io'
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')
param chatProvider = 'anthropic'
param anthropicModel = 'claude-sonnet'
param anthropicUrl = 'https://name.services.ai.azure.com/anthropic/'
