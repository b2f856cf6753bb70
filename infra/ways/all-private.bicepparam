// Nothing can be reached from the internet, neither the function nor its entrance for code.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')

param vnetEnabled = true
param functionAccess = 'private'
