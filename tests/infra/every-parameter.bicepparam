// No two parameters have the same value, and none its default where it can have another: a value that lands in the wrong
// place changes the snapshot. The tags try to take the place of azd's. Not a way to deploy.
using '../../infra/main.bicep'

param environmentName = 'every'
param location = 'northeurope'
param tags = {
  team: 'search'
  'azd-env-name': 'another'
  'azd-service-name': 'another'
}
param resourceGroupName = 'rg-given'
param functionAppName = 'func-given'
param storageAccountName = 'stgiven'
param keyVaultName = 'kv-given'
param developerPrincipalId = '44444444-4444-4444-4444-444444444444'
param developerPrincipalType = 'Group'
param vaultOfficerPrincipalId = '55555555-5555-5555-5555-555555555555'
param vaultOfficerPrincipalType = 'ServicePrincipal'
param neo4jUri = 'bolt+s://graph.example.com:7687'
param neo4jUsername = 'reader'
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')
param neo4jPasswordReplace = true
param neo4jDatabase = 'knowledge'
param graphSchema = 'v1'
param communityVectorIndexName = 'index_of_communities'
param chunkVectorIndexName = 'index_of_chunks'
param chunkFulltextIndexName = 'words_of_chunks'
param vectorIndexDimensions = 1024
param authMode = 'keys'
param projectKeys = readEnvironmentVariable('PROJECT_KEYS')
param projectKeysReplace = true
param openAiName = 'oai-given'
param openAiApiVersion = '2025-04-01-preview'
param chatDeploymentName = 'answers'
param chatModelName = 'gpt-5.5'
param chatModelVersion = '2026-06-01'
param chatSkuName = 'DataZoneStandard'
param chatCapacity = 901
param embeddingDeploymentName = 'vectors'
param embeddingModelName = 'text-embedding-3-small'
param embeddingModelVersion = '2'
param embeddingSkuName = 'Standard'
param embeddingCapacity = 77
param modelTimeoutSec = 45
param maxReplyBytes = 1048576
param temperature = '0.25'
param chatSmallDeploymentName = 'hypotheses'
param reasoningEffort = 'primer=none,aggregation=medium'
param maxCompletionTokens = 'hypothesis=500,followup=5000'
param promptCache = 'unsent'
param cache = 'off'
param cacheAnswers = true
param enableIndexing = true
param enableRagSearch = false
param ragLabels = 'Chunk,Person'
param ragProject = 'handbook'
param ragScoreThreshold = '0.25'
param reconcileSchedule = '0 0 3 * * *'
param redisName = 'amr-given'
param progressChannel = 'progress:{retrieval_id}'
param redisSkuName = 'Balanced_B5'
param redisHighAvailability = false
param instanceMemoryMB = 4096
param maximumInstanceCount = 60
param alwaysReadyInstances = 3
param httpConcurrency = 16
param minTlsVersion = '1.3'
param corsOrigins = ['https://portal.example.com', 'https://other.example.com']
param storageSkuName = 'Standard_GZRS'
param keyVaultPurgeProtection = false
param keyVaultRetentionDays = 14
param deadlineSec = 150
param maxPasses = 4
param maxFollowups = 21
param maxChunksForPrompt = 13
param maxFollowupsPerPrompt = 2
param maxPromptTokens = 9000
param followupScope = 'hard'
param retryMaxAttempts = 6
param retryBackoffBaseSec = 1
param retryBackoffFactor = 5
param retryBackoffMaxSec = 33
param prices = '{"currency": "EUR", "date": "2026-07-01", "models": {"answers": {"prompt": 1.25, "completion": 10}}}'
param logQuestions = true
param vnetEnabled = true
param vnetAddressPrefix = '10.99.0.0/23'
param natGatewayEnabled = false
param functionAccess = 'public'
param logRetentionDays = 120
param logDailyQuotaGb = 9
param alertEmail = 'operators@example.com'
param alertFailurePercent = 11
param alertRetrievalSeconds = 75
param alertEmbeddingSeconds = 7
