// DRIFT for Neo4j on Azure: a keyless function, its stores, models and wiring, in one resource group.
targetScope = 'subscription'

import { alertLimits, chatModel, embeddingModel, namesOfYours, principal } from 'types.bicep'

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

@description('Names of yours; each that is not given is made from environment, subscription and region. What else is in the resource group goes with it.')
param ownNames namesOfYours = {}

@description('A developer who may use the models and read the secret. Roles that were given stay.')
param developer principal?

@description('An operator who may write the secrets, to rotate password and keys. Roles that were given stay.')
param vaultOfficer principal?

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

@description('Model that writes the replies; its deployment is OAI_MODEL. With Claude (CHAT_PROVIDER=anthropic) it is not created. Capacity: thousands of tokens a minute (standard) or units (provisioned, where the default is refused).')
param chat chatModel = {
  deployment: 'chat'
  model: 'gpt-5.4'
  version: '2026-03-05'
  sku: 'GlobalStandard'
  capacity: 520
}

@description('Model that the graph was embedded with: OAI_EMBED_MODEL_NAME, and its deployment OAI_EMBED_DEPLOYMENT_NAME. Capacity: thousands of tokens a minute.')
param embedding embeddingModel = {
  deployment: 'embedding'
  model: 'text-embedding-3-large'
  version: '1'
  sku: 'GlobalStandard'
  capacity: 30
}

@description('Resource ids of Foundry resources that RERANK_URL or ANTHROPIC_BASE_URL name, where the function signs in as itself.')
@maxLength(2)
param foundryExistingIds string[] = []

// ---- progress and cache
@description('Whether Azure Managed Redis is created here, there already, or not used: then nobody sees progress. One that was created stays, and is paid.')
param redisMode 'create' | 'existing' | 'off' = 'create'

@description('Resource id of an Azure Managed Redis that is there; for redisMode existing.')
@maxLength(512)
param redisExistingId string = ''

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

@description('How a new release takes the place of the old one: Recreate ends what runs; RollingUpdate (a preview of Azure) lets it end, and two releases answer for a while.')
param siteUpdateStrategy 'Recreate' | 'RollingUpdate' = 'Recreate'

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

@description('Azure Monitor private link scope that the network has already: a network can have one. Workspace and telemetry join it; empty: one is created with vnetEnabled.')
@maxLength(512)
param existingMonitorScopeId string = ''

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

@description('Who gets alerts by mail (nobody: they are seen in the portal only), the percentage of failed retrievals that raises one, and the seconds that 95 of 100 retrievals and embeddings of a question have to stay under.')
param alerts alertLimits = {
  email: ''
  failurePercent: 5
  retrievalSeconds: 60
  embeddingSeconds: 1
}

// ---- names: the token is the same for the same subscription, environment and region, so a second run changes nothing
var abbrs = loadJsonContent('abbreviations.json')
var token = uniqueString(subscription().id, environmentName, location)
var allTags = union(tags, { 'azd-env-name': environmentName })
var serviceName = 'api'
var workload = 'drift'
// an empty name is none: files of parameters read it from a variable
func given(name string?, made string) string => empty(name) ? made : name!

var names = {
  actionGroup: '${abbrs.actionGroup}${token}'
  applicationInsights: '${abbrs.applicationInsights}${token}'
  functionApp: given(ownNames.?functionApp, '${abbrs.functionApp}${serviceName}-${token}')
  identity: '${abbrs.managedIdentity}${token}'
  keyVault: given(ownNames.?keyVault, '${abbrs.keyVault}${token}')
  logAnalytics: '${abbrs.logAnalytics}${token}'
  natGateway: '${abbrs.natGateway}${token}'
  openAi: given(ownNames.?openAi, '${abbrs.openAi}${token}')
  plan: '${abbrs.plan}${token}'
  privateEndpointPrefix: '${abbrs.privateEndpoint}${token}'
  privateLinkScope: '${abbrs.privateLinkScope}${token}'
  publicIp: '${abbrs.publicIp}${token}'
  redis: given(ownNames.?redis, '${abbrs.managedRedis}${token}')
  resourceGroup: given(
    ownNames.?resourceGroup,
    take('${abbrs.resourceGroup}${workload}-${environmentName}-${location}', 90)
  )
  securityGroupPrefix: '${abbrs.networkSecurityGroup}${token}'
  storage: given(ownNames.?storageAccount, '${abbrs.storage}${token}')
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

func networkOf(subnetId string) string => toLower(join(take(split(subnetId, '/'), 9), '/'))

func isSubnet(id string) bool => isResource(id, 'microsoft.network/virtualnetworks', 11)

var openAiIsAccount = isResource(openAiExistingId, 'microsoft.cognitiveservices/accounts', 9)
var wrongFoundry = filter(foundryExistingIds, id => !isResource(id, 'microsoft.cognitiveservices/accounts', 9))
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
  name =>
    contains(refusedSettings, name) || startsWith(name, 'AZUREWEBJOBSSTORAGE') || startsWith(
      name,
      'APPLICATIONINSIGHTS_'
    ) || (name == 'OAI_MODEL' && !claude && !empty(settings.OAI_MODEL))
)
// signs of a key of a store, of a bus, or of an address that is signed
var keyMarks = ['accountkey=', 'sharedaccesskey=', 'sig=', 'instrumentationkey=']
var settingsWithKeys = filter(
  objectKeys(settings),
  name => !empty(filter(keyMarks, mark => contains(toLower(settings[name]), mark)))
)
var provisioned = endsWith(chat.sku, 'ProvisionedManaged')
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
  !rerank && (!empty(settings.?RERANK_MODEL) || contains(secretNames, 'RERANK_KEY'))
    ? 'appSettings.RERANK_MODEL and credentialIds.RERANK_KEY are for appSettings.RERANK_URL.'
    : ''
  !rerank && !claude && !empty(foundryExistingIds)
    ? 'foundryExistingIds are for appSettings.RERANK_URL, or for CHAT_PROVIDER anthropic.'
    : ''
  empty(wrongFoundry)
    ? ''
    : 'foundryExistingIds must be resource ids of Microsoft.CognitiveServices/accounts: \'${join(wrongFoundry, '\', \'')}\' is none.'
  openAiMode == 'create' && !empty(openAiExistingId)
    ? 'openAiExistingId is for openAiMode existing: another account would be created beside it, and paid.'
    : ''
  redisMode != 'existing' && !empty(redisExistingId)
    ? 'redisExistingId is for redisMode existing: the cluster that it names would not be used.'
    : ''
  openAiMode == 'create' && !claude && toLower(chat.deployment) == toLower(embedding.deployment)
    ? 'chat.deployment and embedding.deployment must be two names.'
    : ''
  empty(settingsWithKeys)
    ? ''
    : 'appSettings.${join(settingsWithKeys, ' and ')} must hold no key: give a secret of yours in credentialIds, or a role.'
  alwaysReadyInstances > maximumInstanceCount ? 'alwaysReadyInstances must not be more than maximumInstanceCount.' : ''
  empty(existingMonitorScopeId) || isResource(existingMonitorScopeId, 'microsoft.insights/privatelinkscopes', 9)
    ? ''
    : 'existingMonitorScopeId must be the resource id of a Microsoft.Insights/privateLinkScopes.'
  !vnetEnabled && !empty(existingMonitorScopeId) ? 'existingMonitorScopeId is for vnetEnabled.' : ''
  !vnetEnabled && !(empty(existingAppSubnetId) && empty(existingEndpointSubnetId))
    ? 'existingAppSubnetId and existingEndpointSubnetId are for vnetEnabled: without it everything would be reached from the internet.'
    : ''
  !empty(existingAppSubnetId) && !empty(existingEndpointSubnetId) && networkOf(existingAppSubnetId) != networkOf(existingEndpointSubnetId)
    ? 'existingAppSubnetId and existingEndpointSubnetId must lie in one network.'
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
  openAiMode == 'create' && provisioned && chat.capacity == 520
    ? 'chat.capacity must be given with a provisioned chat.sku: the default of 520 would be as many units, paid by the hour.'
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
var createMonitorScope = vnetEnabled && empty(existingMonitorScopeId)
var monitorScopeId = isResource(existingMonitorScopeId, 'microsoft.insights/privatelinkscopes', 9)
  ? existingMonitorScopeId
  : '${groupId}/providers/Microsoft.Insights/privateLinkScopes/${names.privateLinkScope}'
var monitorScopeParts = split(monitorScopeId, '/')
// an id that is wrong is refused above; until then it must not stop the sentence that says so
var foundry = filter(foundryExistingIds, id => isResource(id, 'microsoft.cognitiveservices/accounts', 9))
// what the function may read: each secret, which private endpoint its vault gets, and who else has a role on it
var vaultOfGroup = '${groupId}/providers/Microsoft.KeyVault/vaults/${names.keyVault}'
var allSecrets = [
  {
    setting: 'NEO4J_PASSWORD'
    endpoint: 'vault'
    wanted: true
    id: createVault ? '${vaultOfGroup}/secrets/neo4j-password' : credentialIds.NEO4J_PASSWORD
    developer: developer
    officer: vaultOfficer
  }
  {
    setting: 'PROJECT_KEYS'
    endpoint: 'keys'
    wanted: authMode == 'keys'
    id: createKeys ? '${vaultOfGroup}/secrets/project-keys' : (credentialIds.?PROJECT_KEYS ?? '')
    officer: vaultOfficer
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
    applicationInsightsName: names.applicationInsights
    dailyQuotaGb: logDailyQuotaGb
    location: location
    privateLinkScopeName: createMonitorScope ? names.privateLinkScope : ''
    publicAccess: !vnetEnabled
    publicQueries: access != 'private'
    retentionDays: logRetentionDays
    tags: allTags
    workspaceName: names.logAnalytics
  }
}

module monitorScope 'modules/monitor-scope.bicep' = if (vnetEnabled) {
  name: 'monitor-scope-${token}'
  scope: resourceGroup(monitorScopeParts[2], monitorScopeParts[4])
  params: {
    componentName: names.applicationInsights
    groupName: group.name
    namePrefix: token
    scopeName: monitorScopeParts[8]
    workspaceName: names.logAnalytics
  }
  dependsOn: [
    monitoring
  ]
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
    // Claude's replies come from elsewhere, and a deployment that nobody asks holds quota
    deployments: claude ? [embedding] : [chat, embedding]
    location: location
    name: names.openAi
    publicAccess: !vnetEnabled
    tags: allTags
    workspaceId: monitoring.outputs.workspaceId
  }
}

// An account of kind AIServices answers under three domains, one of kind OpenAI, which is created here, under one.
var accountZones = [
  'privatelink.cognitiveservices.azure.com'
  'privatelink.openai.azure.com'
  'privatelink.services.ai.azure.com'
]
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
// models and rerankers may be one resource
var foundryEndpoints = map(filter(foundry, id => toLower(id) != toLower(openAiId)), (id, i) => {
  name: 'foundry-${i}'
  resourceId: id
  groupId: 'account'
  zones: accountZones
  wanted: existingEndpointsEnabled
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
    zones: openAiMode == 'create' ? ['privatelink.openai.azure.com'] : accountZones
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
    resourceId: monitorScopeId
    groupId: 'azuremonitor'
    // telemetry is sent to the first; the service asks that all five are there
    zones: [
      'privatelink.monitor.azure.com'
      'privatelink.oms.opinsights.azure.com'
      'privatelink.ods.opinsights.azure.com'
      'privatelink.agentsvc.azure-automation.net'
      blobZone
    ]
    // a scope that is there has its endpoint in the network
    wanted: createMonitorScope
  }
]

module endpoints 'modules/endpoints.bicep' = if (vnetEnabled) {
  name: 'endpoints'
  scope: group
  params: {
    dnsZonesEnabled: privateDnsZonesEnabled
    endpoints: filter(concat(storeEndpoints, foundryEndpoints, vaultEndpoints), endpoint => endpoint.wanted)
    location: location
    namePrefix: names.privateEndpointPrefix
    subnetId: endpointSubnetId
    tags: allTags
  }
  dependsOn: [
    keyVault
    monitorScope
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
      developer: secret.?developer
      keyVaultName: secret.parts[8]
      officer: secret.?officer
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
    developer: developer
    principalId: identity.outputs.principalId
  }
  dependsOn: [
    openAi
  ]
}

module foundryAccess 'modules/foundry-access.bicep' = [
  for (id, i) in foundry: {
    name: 'foundry-access-${i}-${token}'
    scope: resourceGroup(split(id, '/')[2], split(id, '/')[4])
    params: {
      accountName: split(id, '/')[8]
      principalId: identity.outputs.principalId
    }
  }
]

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
  OAI_EMBED_DEPLOYMENT_NAME: embedding.deployment
  OAI_EMBED_MODEL_NAME: embedding.model
  OAI_MODEL: claude ? settings.?OAI_MODEL : chat.deployment
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
    siteUpdateStrategy: siteUpdateStrategy
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

module watching 'modules/watching.bicep' = {
  name: 'watching'
  scope: group
  params: {
    actionGroupName: names.actionGroup
    applicationInsightsName: monitoring.outputs.applicationInsightsName
    limits: alerts
    location: location
    // a probe comes from the internet
    probedUrl: access == 'public' ? '${functionApp.outputs.url}/health/live' : ''
    tags: allTags
    workspaceId: monitoring.outputs.workspaceId
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
