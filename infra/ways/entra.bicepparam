// Callers sign in with Entra ID: the platform checks their token, and app roles say which projects they may ask.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')

param authMode = 'easyauth'
param entraClientId = '66666666-6666-6666-6666-666666666666'
