// The password stands in a vault of yours: it passes through no deployment, and no vault is created.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param credentialIds = {
  NEO4J_PASSWORD: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/secrets-of-the-team/secrets/neo4j'
}
