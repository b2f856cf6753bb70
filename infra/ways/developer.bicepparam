// A developer may use models, blobs and the secret from a machine of theirs, an operator may rotate the password, and
// both read mails of alerts.
using '../main.bicep'

param environmentName = 'dev'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')

param developer = {
  id: '44444444-4444-4444-4444-444444444444'
  type: 'User'
}
param vaultOfficer = {
  id: '55555555-5555-5555-5555-555555555555'
  type: 'User'
}
param keyVaultPurgeProtection = false
param alerts = {
  email: 'operators@example.com'
  failurePercent: 5
  retrievalSeconds: 60
  embeddingSeconds: 1
}
