// Vectors are searched in Milvus; its token stands in a vault of yours.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param neo4jUri = 'neo4j+s://0a1b2c3d.databases.neo4j.io'
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')
param vectorStore = 'milvus'
param milvusUri = 'https://milvus.example.com:19530'
param milvusCredentialId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/secrets-of-the-team/secrets/milvus-token'
