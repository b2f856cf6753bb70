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
param neo4jUri = readEnvironmentVariable('NEO4J_URI')
param neo4jPassword = empty(neo4jCredential) ? readEnvironmentVariable(passwordVariable) : null
param neo4jCredentialId = readEnvironmentVariable('NEO4J_CREDENTIAL_ID', '')
param neo4jPasswordReplace = bool(readEnvironmentVariable('NEO4J_PASSWORD_REPLACE', 'false'))

param neo4jUsername = readEnvironmentVariable('NEO4J_USERNAME', 'neo4j')

param vectorStore = any(readEnvironmentVariable('VECTOR_STORE', 'neo4j'))
param milvusUri = readEnvironmentVariable('MILVUS_URI', '')
param milvusCredentialId = readEnvironmentVariable('MILVUS_CREDENTIAL_ID', '')

param authMode = any(readEnvironmentVariable('AUTH_MODE', 'function'))
param projectKeys = empty(keysVariable) ? null : keysVariable
param projectKeysCredentialId = readEnvironmentVariable('PROJECT_KEYS_CREDENTIAL_ID', '')
param projectKeysReplace = bool(readEnvironmentVariable('PROJECT_KEYS_REPLACE', 'false'))
param entraClientId = readEnvironmentVariable('ENTRA_CLIENT_ID', '')
param authTenantId = readEnvironmentVariable('AUTH_TENANT_ID', '')
param projectClaim = readEnvironmentVariable('PROJECT_CLAIM', '')

param chatProvider = any(readEnvironmentVariable('CHAT_PROVIDER', 'openai'))
param anthropicModel = readEnvironmentVariable('ANTHROPIC_MODEL', '')
param anthropicUrl = readEnvironmentVariable('ANTHROPIC_URL', '')
param anthropicCredentialId = readEnvironmentVariable('ANTHROPIC_CREDENTIAL_ID', '')
param openAiMode = any(readEnvironmentVariable('OPENAI_MODE', 'create'))
param openAiExistingId = readEnvironmentVariable('OPENAI_EXISTING_ID', '')
param chatDeploymentName = readEnvironmentVariable('CHAT_DEPLOYMENT_NAME', 'chat')
param chatModelName = readEnvironmentVariable('CHAT_MODEL_NAME', 'gpt-5.4')
param chatModelVersion = readEnvironmentVariable('CHAT_MODEL_VERSION', '2026-03-05')
param chatSkuName = any(readEnvironmentVariable('CHAT_SKU_NAME', 'GlobalStandard'))
param chatCapacity = int(readEnvironmentVariable('CHAT_CAPACITY', '520'))
param embeddingDeploymentName = readEnvironmentVariable('EMBEDDING_DEPLOYMENT_NAME', 'embedding')
param embeddingModelName = readEnvironmentVariable('EMBEDDING_MODEL_NAME', 'text-embedding-3-large')
param embeddingModelVersion = readEnvironmentVariable('EMBEDDING_MODEL_VERSION', '1')
param embeddingCapacity = int(readEnvironmentVariable('EMBEDDING_CAPACITY', '30'))

param redisMode = any(readEnvironmentVariable('REDIS_MODE', 'create'))
param redisExistingId = readEnvironmentVariable('REDIS_EXISTING_ID', '')

param vnetEnabled = bool(readEnvironmentVariable('VNET_ENABLED', 'false'))
param functionAccess = any(readEnvironmentVariable('FUNCTION_ACCESS', 'auto'))
param existingAppSubnetId = readEnvironmentVariable('EXISTING_APP_SUBNET_ID', '')
param existingEndpointSubnetId = readEnvironmentVariable('EXISTING_ENDPOINT_SUBNET_ID', '')
param existingEndpointsEnabled = bool(readEnvironmentVariable('EXISTING_ENDPOINTS_ENABLED', 'true'))
param privateDnsZonesEnabled = bool(readEnvironmentVariable('PRIVATE_DNS_ZONES_ENABLED', 'true'))

param developerPrincipalId = readEnvironmentVariable('DEVELOPER_PRINCIPAL_ID', '')
param vaultOfficerPrincipalId = readEnvironmentVariable('VAULT_OFFICER_PRINCIPAL_ID', '')

param maximumInstanceCount = int(readEnvironmentVariable('MAXIMUM_INSTANCE_COUNT', '40'))
param alwaysReadyInstances = int(readEnvironmentVariable('ALWAYS_READY_INSTANCES', '0'))
param httpConcurrency = int(readEnvironmentVariable('HTTP_CONCURRENCY', '8'))

param resourceGroupName = readEnvironmentVariable('RESOURCE_GROUP_NAME', '')
param keyVaultName = readEnvironmentVariable('KEY_VAULT_NAME', '')
param keyVaultPurgeProtection = bool(readEnvironmentVariable('KEY_VAULT_PURGE_PROTECTION', 'true'))
param alertEmail = readEnvironmentVariable('ALERT_EMAIL', '')

// Settings of the application, as README names them: add a line for each that you change. An empty one keeps the default of
// the code.
param appSettings = {
  GRAPH_SCHEMA: readEnvironmentVariable('GRAPH_SCHEMA', '')
  MILVUS_INDEX: readEnvironmentVariable('MILVUS_INDEX', '')
  NEO4J_DATABASE: readEnvironmentVariable('NEO4J_DATABASE', '')
  PRICES: readEnvironmentVariable('PRICES', '')
  PROGRESS_CHANNEL: readEnvironmentVariable('PROGRESS_CHANNEL', '')
  RECONCILE_SCHEDULE: readEnvironmentVariable('RECONCILE_SCHEDULE', '')
  VECTOR_INDEX_DIMENSIONS: readEnvironmentVariable('VECTOR_INDEX_DIMENSIONS', '')
}
