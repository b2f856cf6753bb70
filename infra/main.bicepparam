// Values come from the environment: `azd env set NAME VALUE`, or plain variables for `az deployment sub create`. Export
// NEO4J_PASSWORD and PROJECT_KEYS in the shell only: azd would keep them in a file.
// The four without a default stop the deployment when they are not set; with a secret of yours, NEO4J_PASSWORD is not asked for.
using './main.bicep'

var neo4jCredential = readEnvironmentVariable('NEO4J_CREDENTIAL_ID', '')
// a variable that is read without a default has to be set, also where its value is not used
var passwordVariable = empty(neo4jCredential) ? 'NEO4J_PASSWORD' : 'NEO4J_CREDENTIAL_ID'
var keysVariable = readEnvironmentVariable('PROJECT_KEYS', '')

param environmentName = readEnvironmentVariable('AZURE_ENV_NAME')
param location = readEnvironmentVariable('AZURE_LOCATION')
// Settings of the application, as docs/settings.md names them: add a line for each that you change. An empty one keeps the
// default of the code.
param appSettings = {
  ANTHROPIC_BASE_URL: readEnvironmentVariable('ANTHROPIC_URL', '')
  CHAT_PROVIDER: readEnvironmentVariable('CHAT_PROVIDER', '')
  GRAPH_SCHEMA: readEnvironmentVariable('GRAPH_SCHEMA', '')
  MILVUS_INDEX: readEnvironmentVariable('MILVUS_INDEX', '')
  MILVUS_URI: readEnvironmentVariable('MILVUS_URI', '')
  NEO4J_DATABASE: readEnvironmentVariable('NEO4J_DATABASE', '')
  NEO4J_URI: readEnvironmentVariable('NEO4J_URI')
  NEO4J_USERNAME: readEnvironmentVariable('NEO4J_USERNAME', '')
  OAI_MODEL: readEnvironmentVariable('ANTHROPIC_MODEL', '')
  PRICES: readEnvironmentVariable('PRICES', '')
  PROGRESS_CHANNEL: readEnvironmentVariable('PROGRESS_CHANNEL', '')
  PROJECT_CLAIM: readEnvironmentVariable('PROJECT_CLAIM', '')
  RECONCILE_SCHEDULE: readEnvironmentVariable('RECONCILE_SCHEDULE', '')
  RERANK_MODEL: readEnvironmentVariable('RERANK_MODEL', '')
  RERANK_URL: readEnvironmentVariable('RERANK_URL', '')
  VECTOR_INDEX_DIMENSIONS: readEnvironmentVariable('VECTOR_INDEX_DIMENSIONS', '')
  VECTOR_STORE: readEnvironmentVariable('VECTOR_STORE', '')
}

// Secrets of yours, by the setting that each is for.
param credentialIds = {
  ANTHROPIC_KEY: readEnvironmentVariable('ANTHROPIC_CREDENTIAL_ID', '')
  MILVUS_TOKEN: readEnvironmentVariable('MILVUS_CREDENTIAL_ID', '')
  NEO4J_PASSWORD: neo4jCredential
  PROJECT_KEYS: readEnvironmentVariable('PROJECT_KEYS_CREDENTIAL_ID', '')
  RERANK_KEY: readEnvironmentVariable('RERANK_CREDENTIAL_ID', '')
}
param neo4jPassword = empty(neo4jCredential) ? readEnvironmentVariable(passwordVariable) : null
param neo4jPasswordReplace = bool(readEnvironmentVariable('NEO4J_PASSWORD_REPLACE', 'false'))

param authMode = any(readEnvironmentVariable('AUTH_MODE', 'function'))
param projectKeys = empty(keysVariable) ? null : keysVariable
param projectKeysReplace = bool(readEnvironmentVariable('PROJECT_KEYS_REPLACE', 'false'))
param entraClientId = readEnvironmentVariable('ENTRA_CLIENT_ID', '')
param authTenantId = readEnvironmentVariable('AUTH_TENANT_ID', '')

param openAiMode = any(readEnvironmentVariable('OPENAI_MODE', 'create'))
param openAiExistingId = readEnvironmentVariable('OPENAI_EXISTING_ID', '')
param chat = {
  deployment: readEnvironmentVariable('CHAT_DEPLOYMENT_NAME', 'chat')
  model: readEnvironmentVariable('CHAT_MODEL_NAME', 'gpt-5.4')
  version: readEnvironmentVariable('CHAT_MODEL_VERSION', '2026-03-05')
  sku: any(readEnvironmentVariable('CHAT_SKU_NAME', 'GlobalStandard'))
  capacity: int(readEnvironmentVariable('CHAT_CAPACITY', '520'))
}
param embedding = {
  deployment: readEnvironmentVariable('EMBEDDING_DEPLOYMENT_NAME', 'embedding')
  model: readEnvironmentVariable('EMBEDDING_MODEL_NAME', 'text-embedding-3-large')
  version: readEnvironmentVariable('EMBEDDING_MODEL_VERSION', '1')
  sku: any(readEnvironmentVariable('EMBEDDING_SKU_NAME', 'GlobalStandard'))
  capacity: int(readEnvironmentVariable('EMBEDDING_CAPACITY', '30'))
}
param foundryExistingIds = filter(
  [readEnvironmentVariable('ANTHROPIC_EXISTING_ID', ''), readEnvironmentVariable('RERANK_EXISTING_ID', '')],
  id => !empty(id)
)

param redisMode = any(readEnvironmentVariable('REDIS_MODE', 'create'))
param redisExistingId = readEnvironmentVariable('REDIS_EXISTING_ID', '')

param vnetEnabled = bool(readEnvironmentVariable('VNET_ENABLED', 'false'))
param functionAccess = any(readEnvironmentVariable('FUNCTION_ACCESS', 'auto'))
param existingAppSubnetId = readEnvironmentVariable('EXISTING_APP_SUBNET_ID', '')
param existingEndpointSubnetId = readEnvironmentVariable('EXISTING_ENDPOINT_SUBNET_ID', '')
param existingMonitorScopeId = readEnvironmentVariable('EXISTING_MONITOR_SCOPE_ID', '')
param existingEndpointsEnabled = bool(readEnvironmentVariable('EXISTING_ENDPOINTS_ENABLED', 'true'))
param privateDnsZonesEnabled = bool(readEnvironmentVariable('PRIVATE_DNS_ZONES_ENABLED', 'true'))

var developerId = readEnvironmentVariable('DEVELOPER_PRINCIPAL_ID', '')
var vaultOfficerId = readEnvironmentVariable('VAULT_OFFICER_PRINCIPAL_ID', '')
param developer = empty(developerId) ? null : { id: developerId, type: 'User' }
param vaultOfficer = empty(vaultOfficerId) ? null : { id: vaultOfficerId, type: 'User' }

param maximumInstanceCount = int(readEnvironmentVariable('MAXIMUM_INSTANCE_COUNT', '40'))
param alwaysReadyInstances = int(readEnvironmentVariable('ALWAYS_READY_INSTANCES', '0'))
param siteUpdateStrategy = any(readEnvironmentVariable('SITE_UPDATE_STRATEGY', 'Recreate'))
param httpConcurrency = int(readEnvironmentVariable('HTTP_CONCURRENCY', '8'))

param ownNames = {
  resourceGroup: readEnvironmentVariable('RESOURCE_GROUP_NAME', '')
  keyVault: readEnvironmentVariable('KEY_VAULT_NAME', '')
}
param keyVaultPurgeProtection = bool(readEnvironmentVariable('KEY_VAULT_PURGE_PROTECTION', 'true'))
param alerts = {
  email: readEnvironmentVariable('ALERT_EMAIL', '')
  failurePercent: 5
  retrievalSeconds: 60
  embeddingSeconds: 1
}
