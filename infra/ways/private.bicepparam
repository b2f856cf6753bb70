// Stores, models and Redis can be reached through private endpoints only; code is still uploaded from outside.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')

param vnetEnabled = true
