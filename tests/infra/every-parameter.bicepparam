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
param ownNames = {
  resourceGroup: 'rg-given'
  functionApp: 'func-given'
  storageAccount: 'stgiven'
  keyVault: 'kv-given'
  openAi: 'oai-given'
  redis: 'amr-given'
}
param developer = { id: '44444444-4444-4444-4444-444444444444', type: 'Group' }
param vaultOfficer = { id: '55555555-5555-5555-5555-555555555555', type: 'ServicePrincipal' }
param appSettings = {
  NEO4J_URI: 'bolt+s://graph.example.com:7687'
  NEO4J_USERNAME: 'reader'
  VECTOR_STORE: 'milvus'
  MILVUS_URI: 'https://vectors.example.com:19531/db'
  CHAT_PROVIDER: 'anthropic'
  OAI_MODEL: 'claude-given'
  ANTHROPIC_BASE_URL: 'https://given.services.ai.azure.com/anthropic/'
  CACHE: 'off'
  CACHE_ANSWERS: 'true'
  CHUNK_FULLTEXT_INDEX_NAME: 'words_of_chunks'
  CHUNK_VECTOR_INDEX_NAME: 'index_of_chunks'
  COMMUNITY_VECTOR_INDEX_NAME: 'index_of_communities'
  DEADLINE_SEC: '150'
  ENABLE_INDEXING: 'true'
  ENABLE_METRICS: 'true'
  ENABLE_RAG_SEARCH: 'false'
  FOLLOWUP_SCOPE: 'hard'
  LLM_TEMPERATURE: '0.25'
  LOG_QUESTIONS: 'true'
  MAX_CHUNKS_FOR_PROMPT: '13'
  MAX_COMPLETION_TOKENS: 'hypothesis=500,followup=5000'
  MAX_FOLLOWUPS: '21'
  MAX_FOLLOWUPS_PER_PROMPT: '2'
  MAX_PASSES: '4'
  MAX_PROMPT_TOKENS: '9000'
  MAX_REPLY_BYTES: '1048576'
  MILVUS_COLLECTION: 'rows'
  MILVUS_INDEX: 'HNSW'
  NEO4J_DATABASE: 'knowledge'
  OAI_API_VERSION: '2025-04-01-preview'
  OAI_MODEL_SMALL: 'hypotheses'
  OAI_PROMPT_CACHE: 'unsent'
  OAI_REASONING_EFFORT: 'primer=none,aggregation=medium'
  OAI_TIMEOUT_SEC: '45'
  PRICES: '{"currency": "EUR", "date": "2026-07-01", "models": {"answers": {"prompt": 1.25, "completion": 10}}}'
  PROGRESS_CHANNEL: 'progress:{retrieval_id}'
  RAG_LABELS: 'Chunk,Person'
  RAG_PROJECT: 'handbook'
  RAG_SCORE_THRESHOLD: '0.25'
  RECONCILE_SCHEDULE: '0 0 3 * * *'
  RERANK_MODEL: 'rerank-given'
  RERANK_URL: 'https://given.cognitiveservices.azure.com/providers/cohere/v2/rerank'
  RETRY_BACKOFF_BASE_SEC: '1'
  RETRY_BACKOFF_FACTOR: '5'
  RETRY_BACKOFF_MAX_SEC: '33'
  RETRY_MAX_ATTEMPTS: '6'
  VECTOR_INDEX_DIMENSIONS: '1024'
}
param credentialIds = {
  MILVUS_TOKEN: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/kv-of-milvus/secrets/milvus'
  RERANK_KEY: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/kv-of-reranker/secrets/reranker'
  ANTHROPIC_KEY: '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.KeyVault/vaults/kv-of-claude/secrets/claude'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')
param neo4jPasswordReplace = true
param authMode = 'keys'
param projectKeys = readEnvironmentVariable('PROJECT_KEYS')
param projectKeysReplace = true
param chat = { deployment: 'answers', model: 'gpt-5.5', version: '2026-06-01', sku: 'DataZoneStandard', capacity: 901 }
param embedding = {
  deployment: 'vectors'
  model: 'text-embedding-3-small'
  version: '2'
  sku: 'Standard'
  capacity: 77
}
param foundryExistingIds = [
  '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.CognitiveServices/accounts/given'
]
param redisSkuName = 'Balanced_B5'
param redisHighAvailability = false
param instanceMemoryMB = 4096
param maximumInstanceCount = 60
param alwaysReadyInstances = 3
param siteUpdateStrategy = 'RollingUpdate'
param httpConcurrency = 16
param minTlsVersion = '1.3'
param corsOrigins = ['https://portal.example.com', 'https://other.example.com']
param storageSkuName = 'Standard_GZRS'
param keyVaultPurgeProtection = false
param keyVaultRetentionDays = 14
param vnetEnabled = true
param vnetAddressPrefix = '10.99.0.0/23'
param natGatewayEnabled = false
param functionAccess = 'public'
param logRetentionDays = 120
param logDailyQuotaGb = 9
param alerts = { email: 'operators@example.com', failurePercent: 11, retrievalSeconds: 75, embeddingSeconds: 7 }
