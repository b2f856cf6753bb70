// DRIFT for Neo4j on Azure: a keyless function, its stores, models and wiring, in one resource group.
targetScope = 'subscription'

// ---- what and where
@description('Name of the environment: letters, digits and dashes. Every name is made of it, the subscription and the region.')
@minLength(1)
@maxLength(64)
param environmentName string

@description('Region of everything; it has to offer Flex Consumption, and the models when they are created here.')
@minLength(1)
@metadata({
  azd: {
    type: 'location'
  }
})
param location string

@description('Tags of every resource, besides azd-env-name.')
param tags object = {}

@description('Name of the resource group; empty: made from the environment and the region. What else is in it goes with it.')
@maxLength(90)
param resourceGroupName string = ''

@description('Name of the function app; empty: made from the environment.')
@maxLength(60)
param functionAppName string = ''

@description('Name of the storage account, lower-case letters and digits; empty: made from the environment.')
@maxLength(24)
param storageAccountName string = ''

@description('Name of the vault; empty: made from the environment.')
@maxLength(24)
param keyVaultName string = ''

@description('Object id of a developer who may use the models and read the secret; empty: nobody new. Roles that were given stay.')
@maxLength(36)
param developerPrincipalId string = ''

@description('What the developer principal is.')
param developerPrincipalType 'User' | 'Group' | 'ServicePrincipal' = 'User'

@description('Object id of an operator who may write the secrets, to rotate password and keys; empty: nobody new. Roles that were given stay.')
@maxLength(36)
param vaultOfficerPrincipalId string = ''

@description('What the operator is.')
param vaultOfficerPrincipalType 'User' | 'Group' | 'ServicePrincipal' = 'User'

// ---- the application: settings and secrets by the names that the code reads, so that a new one changes no template
@description('Settings of the application, such as MAX_PASSES: NEO4J_URI is needed; what is not given keeps the default of the code. docs/settings.md lists them.')
param appSettings object

@description('Secrets of yours, resource ids .../vaults/NAME/secrets/NAME by the setting that each is for: NEO4J_PASSWORD (else a vault is created), PROJECT_KEYS, ANTHROPIC_KEY, MILVUS_TOKEN, RERANK_KEY.')
param credentialIds object = {}

@description('Password of the user of the graph; it goes into the vault and nowhere else. Needed unless credentialIds names NEO4J_PASSWORD.')
@secure()
@minLength(8)
@maxLength(1024)
param neo4jPassword string?

@description('Whether neo4jPassword replaces the password that the vault has; otherwise one that was rotated stays.')
param neo4jPasswordReplace bool = false

// ---- who may ask
@description('AUTH_MODE: function keys of the platform for every project, named keys of yours, or Entra ID.')
param authMode 'function' | 'keys' | 'easyauth' = 'function'

@description('Keys of authMode keys, as JSON; they become a secret of the created vault and stand nowhere else.')
@secure()
@minLength(2)
@maxLength(25000)
param projectKeys string?

@description('Whether projectKeys replaces the keys that the vault has; otherwise those that were rotated stay.')
param projectKeysReplace bool = false

@description('Client id of the app registration that callers ask tokens for; for authMode easyauth.')
@maxLength(36)
param entraClientId string = ''

@description('AUTH_TENANT_ID: tenant whose callers are let in; empty: the tenant of the subscription. For authMode easyauth.')
@maxLength(36)
param authTenantId string = ''

// ---- the models
@description('Whether Azure OpenAI is created here or there already.')
param openAiMode 'create' | 'existing' = 'create'

@description('Resource id of an account that is there, with both deployments; for openAiMode existing.')
@maxLength(512)
param openAiExistingId string = ''

@description('Name of the account that is created; empty: made from the environment.')
@maxLength(64)
param openAiName string = ''

@description('Name of the chat deployment: OAI_MODEL, unless Claude writes the replies (CHAT_PROVIDER=anthropic).')
@minLength(1)
@maxLength(64)
param chatDeploymentName string = 'chat'

@description('Model behind it.')
@minLength(1)
@maxLength(64)
param chatModelName string = 'gpt-5.4'

@description('Version of the model.')
@minLength(1)
@maxLength(32)
param chatModelVersion string = '2026-03-05'

@description('Where its requests are processed.')
@allowed([
  'GlobalStandard'
  'DataZoneStandard'
  'Standard'
  'GlobalProvisionedManaged'
  'DataZoneProvisionedManaged'
  'ProvisionedManaged'
])
param chatSkuName string = 'GlobalStandard'

@description('Capacity of the chat deployment, in thousands of tokens a minute (standard) or in units (provisioned, where the default is refused).')
@minValue(1)
@maxValue(10000)
param chatCapacity int = 520

@description('OAI_EMBED_DEPLOYMENT_NAME: name of the embedding deployment.')
@minLength(1)
@maxLength(64)
param embeddingDeploymentName string = 'embedding'

@description('OAI_EMBED_MODEL_NAME: the model that the graph was embedded with.')
@minLength(1)
@maxLength(64)
param embeddingModelName string = 'text-embedding-3-large'

@description('Version of the model.')
@minLength(1)
@maxLength(32)
param embeddingModelVersion string = '1'

@description('Where its requests are processed.')
param embeddingSkuName 'GlobalStandard' | 'DataZoneStandard' | 'Standard' = 'GlobalStandard'

@description('Capacity of the embedding deployment, in thousands of tokens a minute.')
@minValue(1)
@maxValue(10000)
param embeddingCapacity int = 30

@description('Resource id of the Foundry resource that RERANK_URL names, where the function signs in as itself; empty: RERANK_KEY, or no reranker.')
@maxLength(512)
param rerankExistingId string = ''

// ---- progress and cache
@description('Whether Azure Managed Redis is created here, there already, or not used: then nobody sees progress. One that was created stays, and is paid.')
param redisMode 'create' | 'existing' | 'off' = 'create'

@description('Resource id of an Azure Managed Redis that is there; for redisMode existing.')
@maxLength(512)
param redisExistingId string = ''

@description('Name of the cluster that is created; empty: made from the environment.')
@maxLength(60)
param redisName string = ''

@description('Size of the cluster.')
@allowed(['Balanced_B0', 'Balanced_B1', 'Balanced_B3', 'Balanced_B5', 'Balanced_B10', 'Balanced_B20'])
param redisSkuName string = 'Balanced_B0'

@description('Whether a replica stands by; doubles the price.')
param redisHighAvailability bool = true

// ---- the function
@description('Version of Python: the one that requirements.lock is for.')
param pythonVersion '3.13' = '3.13'

@description('Memory of one instance in MB.')
param instanceMemoryMB 512 | 2048 | 4096 = 2048

@description('Most instances; each opens a pool of connections to the graph, so compare with what the graph allows.')
@minValue(40)
@maxValue(1000)
param maximumInstanceCount int = 40

@description('Instances that are always warm, and always paid.')
@minValue(0)
@maxValue(100)
param alwaysReadyInstances int = 0

@description('MAX_INFLIGHT, and the requests that the platform sends one instance at a time.')
@minValue(1)
@maxValue(1000)
param httpConcurrency int = 8

@description('Lowest TLS version that callers may use.')
param minTlsVersion '1.2' | '1.3' = '1.2'

@description('Origins of browsers that may call, such as https://portal.example.com; empty: none.')
@maxLength(50)
param corsOrigins array = []

@description('Redundancy of the storage account.')
param storageSkuName 'Standard_LRS' | 'Standard_ZRS' | 'Standard_GRS' | 'Standard_GZRS' = 'Standard_LRS'

@description('Whether a deleted vault has to stay until its retention is over. Once on, it stays on.')
param keyVaultPurgeProtection bool = true

@description('Days that a deleted vault or secret can be recovered; fixed once the vault exists.')
@minValue(7)
@maxValue(90)
param keyVaultRetentionDays int = 90

// ---- the network
@description('Whether everything is private: no store can be reached from the internet, and the function sends through a network. What was made for it stays when it is switched off, and is paid.')
param vnetEnabled bool = false

@description('Addresses of the network that is created, such as 10.60.0.0/24, from /8 to /25; the first 96 are used.')
@minLength(9)
@maxLength(18)
param vnetAddressPrefix string = '10.60.0.0/24'

@description('Subnet of yours, delegated to Microsoft.App/environments, /26 or larger; empty: a network is created.')
@maxLength(512)
param existingAppSubnetId string = ''

@description('Subnet of yours for private endpoints, in the same network; empty: a network is created.')
@maxLength(512)
param existingEndpointSubnetId string = ''

@description('Whether private DNS zones are made here; false where a policy of yours does it.')
param privateDnsZonesEnabled bool = true

@description('Whether a created network gets a NAT gateway: one outgoing address, for the allow list of AuraDB.')
param natGatewayEnabled bool = true

@description('What the internet may reach of the function: everything, only the entrance for deployments (with an Entra token), or nothing; auto: everything without vnetEnabled, else the entrance.')
param functionAccess 'auto' | 'public' | 'deployOnly' | 'private' = 'auto'

@description('Whether models, Redis and vault of yours get private endpoints here; false where they have some already.')
param existingEndpointsEnabled bool = true

// ---- logs and alerts
@description('Days that logs are kept, telemetry of the function too.')
@minValue(30)
@maxValue(730)
param logRetentionDays int = 30

@description('Most GB of logs a day; what comes after is dropped.')
@minValue(1)
@maxValue(1000)
param logDailyQuotaGb int = 5

@description('Who gets alerts by mail; empty: alerts are seen in the portal only.')
@maxLength(254)
param alertEmail string = ''

@description('Percentage of failed retrievals that raises an alert.')
@minValue(1)
@maxValue(100)
param alertFailurePercent int = 5

@description('Seconds that 95 of 100 retrievals have to stay under.')
@minValue(1)
@maxValue(225)
param alertRetrievalSeconds int = 60

@description('Seconds that 95 of 100 embeddings of a question have to stay under.')
@minValue(1)
@maxValue(60)
param alertEmbeddingSeconds int = 1

// ---- names: the token is the same for the same subscription, environment and region, so a second run changes nothing
var abbrs = loadJsonContent('abbreviations.json')
var token = uniqueString(subscription().id, environmentName, location)
var allTags = union(tags, { 'azd-env-name': environmentName })
var serviceName = 'api'
var workload = 'drift'
var names = {
  actionGroup: '${abbrs.actionGroup}${token}'
  applicationInsights: '${abbrs.applicationInsights}${token}'
  functionApp: empty(functionAppName) ? '${abbrs.functionApp}${serviceName}-${token}' : functionAppName
  identity: '${abbrs.managedIdentity}${token}'
  keyVault: empty(keyVaultName) ? '${abbrs.keyVault}${token}' : keyVaultName
  logAnalytics: '${abbrs.logAnalytics}${token}'
  natGateway: '${abbrs.natGateway}${token}'
  openAi: empty(openAiName) ? '${abbrs.openAi}${token}' : openAiName
  plan: '${abbrs.plan}${token}'
  privateEndpointPrefix: '${abbrs.privateEndpoint}${token}'
  privateLinkScope: '${abbrs.privateLinkScope}${token}'
  publicIp: '${abbrs.publicIp}${token}'
  redis: empty(redisName) ? '${abbrs.managedRedis}${token}' : redisName
  resourceGroup: empty(resourceGroupName)
    ? take('${abbrs.resourceGroup}${workload}-${environmentName}-${location}', 90)
    : resourceGroupName
  securityGroupPrefix: '${abbrs.networkSecurityGroup}${token}'
  storage: empty(storageAccountName) ? '${abbrs.storage}${token}' : storageAccountName
  virtualNetwork: '${abbrs.virtualNetwork}${token}'
}

// ---- rules that no decorator can say; what is wrong is refused before anything is created
var nameLetters = 'abcdefghijklmnopqrstuvwxyz0123456789-'
var strangeLetters = filter(
  range(0, length(environmentName)),
  i => !contains(nameLetters, toLower(substring(environmentName, i, 1)))
)
var nameIsPlain = empty(strangeLetters)
var settings = toObject(items(appSettings), setting => toUpper(setting.key), setting => string(setting.value))
var claude = settings.?CHAT_PROVIDER == 'anthropic'
var milvus = settings.?VECTOR_STORE == 'milvus'
var rerank = !empty(settings.?RERANK_URL)
var neo4jUri = settings.?NEO4J_URI ?? ''
var milvusUri = settings.?MILVUS_URI ?? ''

func isResource(id string, type string, segments int) bool =>
  length(split(id, '/')) == segments && contains(toLower(id), '/providers/${type}/')

func isSecret(id string) bool => isResource(id, 'microsoft.keyvault/vaults', 11) && contains(toLower(id), '/secrets/')

func isSubnet(id string) bool => isResource(id, 'microsoft.network/virtualnetworks', 11)

var openAiIsAccount = isResource(openAiExistingId, 'microsoft.cognitiveservices/accounts', 9)
var rerankIsAccount = isResource(rerankExistingId, 'microsoft.cognitiveservices/accounts', 9)
var redisIsCluster = isResource(redisExistingId, 'microsoft.cache/redisenterprise', 9)
var givenSecrets = filter(items(credentialIds), secret => !empty(secret.value))
var secretSettings = ['NEO4J_PASSWORD', 'PROJECT_KEYS', 'ANTHROPIC_KEY', 'MILVUS_TOKEN', 'RERANK_KEY']
var secretNames = map(givenSecrets, secret => secret.key)
var wrongSecrets = map(filter(givenSecrets, secret => !isSecret(secret.value)), secret => secret.key)
var unknownSecrets = filter(secretNames, name => !contains(secretSettings, name))
var createVault = !contains(secretNames, 'NEO4J_PASSWORD')
var createKeys = authMode == 'keys' && !contains(secretNames, 'PROJECT_KEYS')
var keysGiven = projectKeys != null || contains(secretNames, 'PROJECT_KEYS')
var entraGiven = !empty(entraClientId) || !empty(authTenantId) || !empty(settings.?PROJECT_CLAIM)
// what the template computes, what is a secret, and what is for machines of developers
var refusedSettings = [
  'ALLOW_PLAINTEXT'
  'ANTHROPIC_KEY'
  'AUTH_MODE'
  'AUTH_TENANT_ID'
  'AZURE_CLIENT_ID'
  'MAX_INFLIGHT'
  'MILVUS_TOKEN'
  'NEO4J_PASSWORD'
  'OAI_BASE_URL'
  'OAI_EMBED_DEPLOYMENT_NAME'
  'OAI_EMBED_MODEL_NAME'
  'OAI_KEY'
  'PROJECT_KEYS'
  'PROJECT_KEYS_SECRET'
  'REDIS_AUTH'
  'REDIS_URL'
  'RERANK_KEY'
  'WEBSITE_AUTH_ENABLED'
]
var misplacedSettings = filter(
  objectKeys(settings),
  name => contains(refusedSettings, name) || (name == 'OAI_MODEL' && !claude && !empty(settings.OAI_MODEL))
)
var provisioned = endsWith(chatSkuName, 'ProvisionedManaged')
var addressParts = split(vnetAddressPrefix, '/')
var addressLengths = map(range(8, 18), length => string(length))
var addressIsRange = length(addressParts) == 2 && contains(addressLengths, last(addressParts))
  ? parseCidr(vnetAddressPrefix).network == first(addressParts)
  : false
var reachable = vnetEnabled || functionAccess == 'public' || functionAccess == 'auto'
var overHttp = startsWith(neo4jUri, 'https://')
var encrypted = startsWith(neo4jUri, 'neo4j+s://') || startsWith(neo4jUri, 'bolt+s://') || overHttp
var findings = [
  nameIsPlain ? '' : 'environmentName may hold letters, digits and dashes only.'
  encrypted ? '' : 'appSettings.NEO4J_URI must be given and begin with neo4j+s://, bolt+s:// or https://.'
  overHttp && empty(settings.?NEO4J_DATABASE)
    ? 'appSettings.NEO4J_DATABASE must be given where NEO4J_URI is https://.'
    : ''
  contains('${neo4jUri}${milvusUri}', '@')
    ? 'appSettings.NEO4J_URI and MILVUS_URI must hold no user and no password: give NEO4J_USERNAME, neo4jPassword and credentialIds.'
    : ''
  contains(join(corsOrigins, ' '), '*')
    ? 'corsOrigins must name each origin: the origin * would let every page on the internet call with its visitors.'
    : ''
  openAiMode == 'existing' && !openAiIsAccount
    ? 'openAiExistingId must be the resource id of a Microsoft.CognitiveServices/accounts.'
    : ''
  redisMode == 'existing' && !redisIsCluster
    ? 'redisExistingId must be the resource id of a Microsoft.Cache/redisEnterprise (Azure Managed Redis).'
    : ''
  contains(['', 'openai', 'anthropic'], settings.?CHAT_PROVIDER ?? '')
    ? ''
    : 'appSettings.CHAT_PROVIDER must be openai or anthropic.'
  contains(['', 'neo4j', 'milvus'], settings.?VECTOR_STORE ?? '')
    ? ''
    : 'appSettings.VECTOR_STORE must be neo4j or milvus.'
  empty(wrongSecrets)
    ? ''
    : 'credentialIds.${join(wrongSecrets, ' and ')} must be the resource id of a secret, .../Microsoft.KeyVault/vaults/NAME/secrets/NAME.'
  empty(unknownSecrets)
    ? ''
    : 'credentialIds must not hold ${join(unknownSecrets, ', ')}: it has ${join(secretSettings, ', ')}.'
  claude && empty(settings.?OAI_MODEL)
    ? 'appSettings.OAI_MODEL must name the Claude model for CHAT_PROVIDER anthropic.'
    : ''
  claude && empty(settings.?ANTHROPIC_BASE_URL) && !contains(secretNames, 'ANTHROPIC_KEY')
    ? 'CHAT_PROVIDER anthropic needs appSettings.ANTHROPIC_BASE_URL of Foundry, or credentialIds.ANTHROPIC_KEY.'
    : ''
  !claude && (!empty(settings.?ANTHROPIC_BASE_URL) || contains(secretNames, 'ANTHROPIC_KEY'))
    ? 'appSettings.ANTHROPIC_BASE_URL and credentialIds.ANTHROPIC_KEY are for CHAT_PROVIDER anthropic.'
    : ''
  milvus && !startsWith(milvusUri, 'https://') ? 'VECTOR_STORE milvus needs appSettings.MILVUS_URI, https://....' : ''
  !milvus && (!empty(milvusUri) || contains(secretNames, 'MILVUS_TOKEN'))
    ? 'appSettings.MILVUS_URI and credentialIds.MILVUS_TOKEN are for VECTOR_STORE milvus.'
    : ''
  rerank && !startsWith(settings.RERANK_URL, 'https://') ? 'appSettings.RERANK_URL must begin with https://.' : ''
  rerank && empty(settings.?RERANK_MODEL) ? 'appSettings.RERANK_MODEL must name the model for RERANK_URL.' : ''
  !rerank && (!empty(settings.?RERANK_MODEL) || contains(secretNames, 'RERANK_KEY') || !empty(rerankExistingId))
    ? 'appSettings.RERANK_MODEL, credentialIds.RERANK_KEY and rerankExistingId are for appSettings.RERANK_URL.'
    : ''
  !empty(rerankExistingId) && !rerankIsAccount
    ? 'rerankExistingId must be the resource id of a Microsoft.CognitiveServices/accounts.'
    : ''
  empty(existingAppSubnetId) == empty(existingEndpointSubnetId)
    ? ''
    : 'existingAppSubnetId and existingEndpointSubnetId must be given together.'
  !empty(existingAppSubnetId) && !isSubnet(existingAppSubnetId)
    ? 'existingAppSubnetId must be the resource id of a subnet.'
    : ''
  !empty(existingEndpointSubnetId) && !isSubnet(existingEndpointSubnetId)
    ? 'existingEndpointSubnetId must be the resource id of a subnet.'
    : ''
  authMode == 'keys' && !keysGiven
    ? 'authMode keys needs projectKeys, or credentialIds.PROJECT_KEYS of a secret that holds them.'
    : ''
  authMode != 'keys' && keysGiven
    ? 'projectKeys and credentialIds.PROJECT_KEYS are for authMode keys: no other mode asks callers for them.'
    : ''
  projectKeys != null && contains(secretNames, 'PROJECT_KEYS')
    ? 'projectKeys and credentialIds.PROJECT_KEYS must not be given together.'
    : ''
  createKeys && !createVault
    ? 'credentialIds.PROJECT_KEYS must be given with NEO4J_PASSWORD: no vault is created for projectKeys.'
    : ''
  authMode == 'easyauth' && length(entraClientId) != 36
    ? 'authMode easyauth needs entraClientId, the client id of an app registration.'
    : ''
  authMode != 'easyauth' && entraGiven
    ? 'entraClientId, authTenantId and appSettings.PROJECT_CLAIM are for authMode easyauth: no other mode asks callers to sign in.'
    : ''
  empty(authTenantId) || length(authTenantId) == 36 ? '' : 'authTenantId must be the id of a tenant.'
  openAiMode == 'create' && provisioned && chatCapacity == 520
    ? 'chatCapacity must be given with a provisioned chatSkuName: the default of 520 would be as many units, paid by the hour.'
    : ''
  addressIsRange ? '' : 'vnetAddressPrefix must be a range of addresses from /8 to /25, such as 10.60.0.0/24.'
  empty(misplacedSettings)
    ? ''
    : 'appSettings must not hold ${join(misplacedSettings, ', ')}: the template gives it, or it is a secret.'
  reachable ? '' : 'functionAccess must be public without vnetEnabled: nobody could call the function.'
]
var problems = filter(findings, finding => !empty(finding))

// any(): the compiler cannot know what a deployment will compute
module checks 'modules/checks.bicep' = {
  // of its own in each region and environment: deployments of a subscription keep their names, with their region
  name: 'checks-${token}'
  params: {
    problems: any(empty(problems) ? 'none' : join(problems, ' '))
  }
}

// ---- what is created, in the order identity -> stores -> roles -> site
var access = functionAccess == 'auto' ? (vnetEnabled ? 'deployOnly' : 'public') : functionAccess
var createNetwork = vnetEnabled && empty(existingAppSubnetId)
var groupId = '${subscription().id}/resourceGroups/${names.resourceGroup}'
var openAiId = openAiMode == 'existing' && openAiIsAccount
  ? openAiExistingId
  : '${groupId}/providers/Microsoft.CognitiveServices/accounts/${names.openAi}'
var openAiParts = split(openAiId, '/')
var redisId = redisMode == 'existing' && redisIsCluster
  ? redisExistingId
  : '${groupId}/providers/Microsoft.Cache/redisEnterprise/${names.redis}'
var redisParts = split(redisId, '/')
// what the function may read: each secret, which private endpoint its vault gets, and who else has a role on it
var vaultOfGroup = '${groupId}/providers/Microsoft.KeyVault/vaults/${names.keyVault}'
var allSecrets = [
  {
    setting: 'NEO4J_PASSWORD'
    endpoint: 'vault'
    wanted: true
    id: createVault ? '${vaultOfGroup}/secrets/neo4j-password' : credentialIds.NEO4J_PASSWORD
    developer: developerPrincipalId
    officer: vaultOfficerPrincipalId
  }
  {
    setting: 'PROJECT_KEYS'
    endpoint: 'keys'
    wanted: authMode == 'keys'
    id: createKeys ? '${vaultOfGroup}/secrets/project-keys' : (credentialIds.?PROJECT_KEYS ?? '')
    officer: vaultOfficerPrincipalId
  }
  {
    setting: 'ANTHROPIC_KEY'
    endpoint: 'claude'
    wanted: claude && contains(secretNames, 'ANTHROPIC_KEY')
    id: credentialIds.?ANTHROPIC_KEY ?? ''
  }
  {
    setting: 'MILVUS_TOKEN'
    endpoint: 'milvus'
    wanted: milvus && contains(secretNames, 'MILVUS_TOKEN')
    id: credentialIds.?MILVUS_TOKEN ?? ''
  }
  {
    setting: 'RERANK_KEY'
    endpoint: 'reranker'
    wanted: rerank && contains(secretNames, 'RERANK_KEY')
    id: credentialIds.?RERANK_KEY ?? ''
  }
]
// an id that is wrong is refused above; until then it must not stop the sentence that says so
var secrets = map(
  filter(allSecrets, secret => secret.wanted && isSecret(secret.id)),
  secret => union(secret, { parts: split(secret.id, '/') })
)
var vaultIds = map(secrets, secret => toLower(join(take(secret.parts, 9), '/')))
// of https://HOST, https://HOST:PORT or either with a path
var milvusPort = split('${split('${milvusUri}//', '/')[2]}:443', ':')[1]
var endpointPorts = union(['443', '7687', '10000'], milvus ? [milvusPort] : [])

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: names.resourceGroup
  location: location
  tags: allTags
  dependsOn: [
    checks
  ]
}

module identity 'modules/identity.bicep' = {
  name: 'identity'
  scope: group
  params: {
    name: names.identity
    location: location
    tags: allTags
  }
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  scope: group
  params: {
    actionGroupName: names.actionGroup
    alertEmail: alertEmail
    alertEmbeddingSeconds: alertEmbeddingSeconds
    alertFailurePercent: alertFailurePercent
    alertRetrievalSeconds: alertRetrievalSeconds
    applicationInsightsName: names.applicationInsights
    dailyQuotaGb: logDailyQuotaGb
    location: location
    privateLinkScopeName: names.privateLinkScope
    publicAccess: !vnetEnabled
    publicQueries: access != 'private'
    retentionDays: logRetentionDays
    tags: allTags
    workspaceName: names.logAnalytics
  }
}

module network 'modules/network.bicep' = if (createNetwork) {
  name: 'network'
  scope: group
  params: {
    addressPrefix: vnetAddressPrefix
    endpointPorts: endpointPorts
    location: location
    name: names.virtualNetwork
    natGatewayEnabled: natGatewayEnabled
    natGatewayName: names.natGateway
    publicIpName: names.publicIp
    securityGroupPrefix: names.securityGroupPrefix
    tags: allTags
  }
}

var appSubnetId = createNetwork ? (network.?outputs.appSubnetId ?? '') : existingAppSubnetId
var endpointSubnetId = createNetwork ? (network.?outputs.endpointSubnetId ?? '') : existingEndpointSubnetId

module storage 'modules/storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    containerName: 'app-package'
    location: location
    name: names.storage
    publicAccess: !vnetEnabled
    skuName: storageSkuName
    tags: allTags
    workspaceId: monitoring.outputs.workspaceId
  }
}

module keyVault 'modules/keyvault.bicep' = if (createVault) {
  name: 'keyvault'
  scope: group
  params: {
    location: location
    name: names.keyVault
    // without one, and without credentialIds.NEO4J_PASSWORD, the deployment is refused: this parameter has no default
    neo4jPassword: neo4jPassword!
    projectKeys: projectKeys
    publicAccess: !vnetEnabled
    purgeProtection: keyVaultPurgeProtection
    replacePassword: neo4jPasswordReplace
    replaceProjectKeys: projectKeysReplace
    softDeleteRetentionDays: keyVaultRetentionDays
    tags: allTags
    withProjectKeys: createKeys
    workspaceId: monitoring.outputs.workspaceId
  }
}

module redis 'modules/redis.bicep' = if (redisMode == 'create') {
  name: 'redis'
  scope: group
  params: {
    highAvailability: redisHighAvailability
    location: location
    name: names.redis
    publicAccess: !vnetEnabled
    skuName: redisSkuName
    tags: allTags
    workspaceId: monitoring.outputs.workspaceId
  }
}

module openAi 'modules/openai.bicep' = if (openAiMode == 'create') {
  name: 'openai'
  scope: group
  params: {
    deployments: [
      {
        name: chatDeploymentName
        model: chatModelName
        version: chatModelVersion
        skuName: chatSkuName
        capacity: chatCapacity
      }
      {
        name: embeddingDeploymentName
        model: embeddingModelName
        version: embeddingModelVersion
        skuName: embeddingSkuName
        capacity: embeddingCapacity
      }
    ]
    location: location
    name: names.openAi
    publicAccess: !vnetEnabled
    tags: allTags
    workspaceId: monitoring.outputs.workspaceId
  }
}

// An account of kind AIServices answers under three domains, one of kind OpenAI, which is created here, under one.
var openAiZones = openAiMode == 'create'
  ? ['privatelink.openai.azure.com']
  : ['privatelink.cognitiveservices.azure.com', 'privatelink.openai.azure.com', 'privatelink.services.ai.azure.com']
// as the other zones, that of public Azure
#disable-next-line no-hardcoded-env-urls
var blobZone = 'privatelink.blob.core.windows.net'
var vaultEndpoints = map(filter(secrets, (secret, i) => indexOf(vaultIds, vaultIds[i]) == i), secret => {
  name: secret.endpoint
  resourceId: join(take(secret.parts, 9), '/')
  groupId: 'vault'
  zones: ['privatelink.vaultcore.azure.net']
  wanted: startsWith(secret.id, vaultOfGroup) || existingEndpointsEnabled
})
var storeEndpoints = [
  {
    name: 'blob'
    resourceId: storage.outputs.id
    groupId: 'blob'
    zones: [blobZone]
    wanted: true
  }
  {
    name: 'openai'
    resourceId: openAiId
    groupId: 'account'
    zones: openAiZones
    wanted: openAiMode == 'create' || existingEndpointsEnabled
  }
  {
    name: 'redis'
    resourceId: redisId
    groupId: 'redisEnterprise'
    zones: ['privatelink.redis.azure.net']
    wanted: redisMode == 'create' || (redisMode == 'existing' && existingEndpointsEnabled)
  }
  {
    name: 'logs'
    resourceId: monitoring.outputs.privateLinkScopeId
    groupId: 'azuremonitor'
    // telemetry is sent to the first; the service asks that all five are there
    zones: [
      'privatelink.monitor.azure.com'
      'privatelink.oms.opinsights.azure.com'
      'privatelink.ods.opinsights.azure.com'
      'privatelink.agentsvc.azure-automation.net'
      blobZone
    ]
    wanted: true
  }
]

module endpoints 'modules/endpoints.bicep' = if (vnetEnabled) {
  name: 'endpoints'
  scope: group
  params: {
    dnsZonesEnabled: privateDnsZonesEnabled
    endpoints: filter(concat(storeEndpoints, vaultEndpoints), endpoint => endpoint.wanted)
    location: location
    namePrefix: names.privateEndpointPrefix
    subnetId: endpointSubnetId
    tags: allTags
  }
  dependsOn: [
    keyVault
    openAi
    redis
  ]
}

module rbac 'modules/rbac.bicep' = {
  name: 'rbac'
  scope: group
  params: {
    applicationInsightsName: names.applicationInsights
    principalId: identity.outputs.principalId
    storageName: names.storage
  }
  dependsOn: [
    monitoring
    storage
  ]
}

module secretAccess 'modules/secret-access.bicep' = [
  for secret in secrets: {
    name: 'secret-access-${secret.endpoint}-${token}'
    scope: resourceGroup(secret.parts[2], secret.parts[4])
    params: {
      developerPrincipalId: secret.?developer ?? ''
      developerPrincipalType: developerPrincipalType
      keyVaultName: secret.parts[8]
      officerPrincipalId: secret.?officer ?? ''
      officerPrincipalType: vaultOfficerPrincipalType
      principalId: identity.outputs.principalId
      secretName: secret.parts[10]
    }
    dependsOn: [
      keyVault
    ]
  }
]

module openAiAccess 'modules/openai-access.bicep' = {
  name: 'openai-access-${token}'
  scope: resourceGroup(openAiParts[2], openAiParts[4])
  params: {
    accountName: openAiParts[8]
    developerPrincipalId: developerPrincipalId
    developerPrincipalType: developerPrincipalType
    principalId: identity.outputs.principalId
  }
  dependsOn: [
    openAi
  ]
}

var rerankParts = split(rerankExistingId, '/')

module rerankAccess 'modules/rerank-access.bicep' = if (rerankIsAccount) {
  name: 'rerank-access-${token}'
  // an id that is wrong is refused above; until then it must not stop the sentence that says so
  scope: resourceGroup(
    rerankIsAccount ? rerankParts[2] : openAiParts[2],
    rerankIsAccount ? rerankParts[4] : openAiParts[4]
  )
  params: {
    accountName: rerankParts[?8] ?? ''
    principalId: identity.outputs.principalId
  }
}

module redisAccess 'modules/redis-access.bicep' = if (redisMode != 'off') {
  name: 'redis-access-${token}'
  scope: resourceGroup(redisParts[2], redisParts[4])
  params: {
    clusterName: redisParts[8]
    principalId: identity.outputs.principalId
  }
  dependsOn: [
    redis
  ]
}

// ---- every setting of the application: those that people chose, and over them what only the template knows. What is set by
// hand in the portal is gone with the next deployment. AUTH_MODE and AUTH_TENANT_ID alone stand in modules/function.bicep,
// beside the platform's authentication
var wiredSettings = {
  AZURE_CLIENT_ID: identity.outputs.clientId
  MAX_INFLIGHT: string(httpConcurrency)
  OAI_BASE_URL: openAiAccess.outputs.endpoint
  OAI_EMBED_DEPLOYMENT_NAME: embeddingDeploymentName
  OAI_EMBED_MODEL_NAME: embeddingModelName
  OAI_MODEL: claude ? settings.?OAI_MODEL : chatDeploymentName
  REDIS_AUTH: redisMode == 'off' ? 'url' : 'entra'
  REDIS_URL: redisMode == 'off' ? '' : (redisAccess.?outputs.url ?? '')
}

// addresses of the newest version: a new one is picked up without a deployment
func secretAddress(parts string[]) string =>
  'https://${parts[8]}${environment().suffixes.keyvaultDns}/secrets/${parts[10]}'

// keys by their address and no reference: the function reads that secret itself, so that rotated ones need no deployment
var secretSettingsGiven = toObject(
  secrets,
  secret => secret.setting == 'PROJECT_KEYS' ? 'PROJECT_KEYS_SECRET' : secret.setting,
  secret =>
    secret.setting == 'PROJECT_KEYS'
      ? secretAddress(secret.parts)
      : '@Microsoft.KeyVault(SecretUri=${secretAddress(secret.parts)})'
)

module functionApp 'modules/function.bicep' = {
  name: 'function'
  scope: group
  params: {
    // any(): the compiler does not see that auto is gone by now
    access: any(access)
    alwaysReadyInstances: alwaysReadyInstances
    applicationInsightsName: monitoring.outputs.applicationInsightsName
    authMode: authMode
    authTenantId: authTenantId
    blobEndpoint: storage.outputs.blobEndpoint
    containerUrl: storage.outputs.containerUrl
    corsOrigins: corsOrigins
    entraClientId: entraClientId
    httpConcurrency: httpConcurrency
    identityClientId: identity.outputs.clientId
    identityId: identity.outputs.id
    instanceMemoryMB: instanceMemoryMB
    location: location
    maximumInstanceCount: maximumInstanceCount
    minTlsVersion: minTlsVersion
    name: names.functionApp
    planName: names.plan
    pythonVersion: pythonVersion
    serviceName: serviceName
    settings: union(settings, wiredSettings, secretSettingsGiven)
    subnetId: vnetEnabled ? appSubnetId : ''
    tags: allTags
    workspaceId: monitoring.outputs.workspaceId
  }
  // roles first: the host reads its container and resolves the secret when it starts
  dependsOn: [
    endpoints
    rbac
    secretAccess
  ]
}

module functionEndpoint 'modules/endpoints.bicep' = if (vnetEnabled) {
  name: 'function-endpoint'
  scope: group
  params: {
    dnsZonesEnabled: privateDnsZonesEnabled
    endpoints: [
      {
        name: 'site'
        resourceId: functionApp.outputs.id
        groupId: 'sites'
        zones: ['privatelink.azurewebsites.net']
      }
    ]
    location: location
    namePrefix: names.privateEndpointPrefix
    subnetId: endpointSubnetId
    tags: allTags
  }
}

// ---- for callers, azd and the command line
@description('Region of everything.')
output AZURE_LOCATION string = location

@description('Tenant.')
output AZURE_TENANT_ID string = tenant().tenantId

@description('Resource group that everything is in.')
output AZURE_RESOURCE_GROUP string = group.name

@description('Name of the function app.')
output AZURE_FUNCTION_NAME string = functionApp.outputs.name

@description('Name of the function app, where azd looks for it.')
output SERVICE_API_NAME string = functionApp.outputs.name

@description('Root of the routes.')
output SERVICE_API_URI string = functionApp.outputs.url

@description('Client id of the identity of the function.')
output AZURE_FUNCTION_CLIENT_ID string = identity.outputs.clientId

@description('Vault with the password of the graph.')
output AZURE_KEY_VAULT_NAME string = secrets[?0].?parts[8] ?? ''

@description('Storage account of the host.')
output AZURE_STORAGE_ACCOUNT_NAME string = names.storage

@description('Application Insights component.')
output AZURE_APPLICATION_INSIGHTS_NAME string = monitoring.outputs.applicationInsightsName

@description('Root of Azure OpenAI.')
output AZURE_OPENAI_ENDPOINT string = openAiAccess.outputs.endpoint

@description('Resource id of Azure Managed Redis, empty where it is off.')
output AZURE_REDIS_ID string = redisMode == 'off' ? '' : redisId

@description('Fixed outgoing address for the allow list of AuraDB, empty without a NAT gateway.')
output AZURE_OUTGOING_ADDRESS string = createNetwork ? (network.?outputs.outgoingAddress ?? '') : ''

var credentials = {
  function: 'a function key'
  keys: 'a key of yours'
  easyauth: 'a token of Entra ID'
}

@description('What is left to do.')
output NEXT_STEPS array = [
  'Let the function through the allow list of the graph at ${neo4jUri}.'
  'Create constraints and indexes once, with the same NEO4J_*, OAI_* and VECTOR_INDEX_DIMENSIONS set: python -m drift prepare'
  'If the first deployment of the code answered 403, wait a minute and run: azd deploy'
  'Ask for the state, with ${credentials[authMode]}: ${functionApp.outputs.url}/health/ready'
  'Roles and resources of an earlier deployment that this one does not name any more are still there: docs/deploy.md, Taking something back'
]
