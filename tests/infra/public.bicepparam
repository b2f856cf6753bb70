// Reached from the internet, with other values than the defaults where the other public ways have none. Not a way to deploy.
using '../../infra/main.bicep'

param environmentName = 'open'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'bolt+s://graph.example.com:7687'
  PROJECT_CLAIM: 'projects'
  GRAPH_SCHEMA: 'v1'
  LLM_TEMPERATURE: '0.25'
  LOG_QUESTIONS: 'true'
  OAI_API_VERSION: '2025-04-01-preview'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')
param neo4jPasswordReplace = true
param authMode = 'easyauth'
param entraClientId = '77777777-7777-7777-7777-777777777777'
param authTenantId = '88888888-8888-8888-8888-888888888888'
param redisSkuName = 'Balanced_B5'
param redisHighAvailability = false
param instanceMemoryMB = 512
param maximumInstanceCount = 70
param alwaysReadyInstances = 2
param httpConcurrency = 12
param minTlsVersion = '1.3'
param corsOrigins = ['https://portal.example.com']
param storageSkuName = 'Standard_ZRS'
param keyVaultRetentionDays = 30
param functionAccess = 'public'
param logRetentionDays = 60
param logDailyQuotaGb = 3
param alerts = { email: '', failurePercent: 8, retrievalSeconds: 90, embeddingSeconds: 3 }
param siteUpdateStrategy = 'RollingUpdate'
