// Private, with a created vault for the password and a vault of yours for the keys of callers: two vaults share a DNS zone.
// Not a way to deploy.
using '../../infra/main.bicep'

param environmentName = 'keys'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param credentialIds = {
  PROJECT_KEYS: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/keys-of-the-team/secrets/callers'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')

param authMode = 'keys'
param developer = {
  id: '44444444-4444-4444-4444-444444444444'
  type: 'User'
}
param vaultOfficer = {
  id: '55555555-5555-5555-5555-555555555555'
  type: 'User'
}
param vnetEnabled = true
