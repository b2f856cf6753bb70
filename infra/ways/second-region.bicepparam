// The same environment again in another region of the same subscription, on the same graph.
using '../main.bicep'

param environmentName = 'prod'
param location = 'eastus2'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')
