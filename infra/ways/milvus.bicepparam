// Vectors are searched in Milvus; its token stands in a vault of yours.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
  VECTOR_STORE: 'milvus'
  MILVUS_URI: 'https://milvus.example.com:19530'
}
param credentialIds = {
  MILVUS_TOKEN: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/secrets-of-the-team/secrets/milvus-token'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')
