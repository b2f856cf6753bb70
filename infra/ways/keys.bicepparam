// Callers show keys of yours, each for some projects only; the function reads them from the vault, again every minute.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')

param authMode = 'keys'
param projectKeys = readEnvironmentVariable('PROJECT_KEYS')
param vaultOfficer = {
  id: '55555555-5555-5555-5555-555555555555'
  type: 'User'
}
