// No Redis: nobody sees progress, and nothing is cached.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')

param redisMode = 'off'
