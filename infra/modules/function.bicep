// The Flex Consumption plan and the site: keyless, HTTPS only, every setting of the application in one place. Who may ask
// is decided once here, for the platform and for the application.
targetScope = 'resourceGroup'

@description('Name of the function app.')
param name string

@description('Name of the plan.')
param planName string

@description('Region.')
param location string

@description('Tags of every resource.')
param tags object

@description('Name of the service in azure.yaml, by which azd finds the site.')
param serviceName string

@description('Resource id of the identity that the site runs as.')
param identityId string

@description('Client id of the same identity.')
param identityClientId string

@description('Blob endpoint of the storage account of the host.')
param blobEndpoint string

@description('Container of the deployment package.')
param containerUrl string

@description('Name of the Application Insights component.')
param applicationInsightsName string

@description('Workspace of the log.')
param workspaceId string

@description('Settings of the application, name to value; secrets only as references to the vault.')
param settings object

@description('Version of Python.')
param pythonVersion '3.13'

@description('Memory of one instance in MB.')
param instanceMemoryMB 512 | 2048 | 4096

@description('Most instances.')
param maximumInstanceCount int

@description('Instances that are always warm.')
param alwaysReadyInstances int

@description('Requests that one instance answers at a time.')
param httpConcurrency int

@description('How a new release takes the place of the old one.')
param siteUpdateStrategy 'Recreate' | 'RollingUpdate'

@description('Lowest TLS version that callers may use.')
param minTlsVersion '1.2' | '1.3'

@description('Origins of browsers that may call; empty: none.')
param corsOrigins array

@description('Who may ask: function keys, keys of yours, or Entra ID.')
param authMode 'function' | 'keys' | 'easyauth'

@description('Tenant whose callers are let in; empty: the tenant of the subscription.')
param authTenantId string

@description('Client id of the app registration that callers ask tokens for; empty without Entra ID.')
param entraClientId string

@description('What the internet may reach: everything, only the entrance for deployments (with an Entra token), or nothing.')
param access 'public' | 'deployOnly' | 'private'

@description('Subnet that the site sends from; empty: no network.')
param subnetId string

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: applicationInsightsName
}

var platformSettings = {
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identityClientId};Authorization=AAD'
  APPLICATIONINSIGHTS_CONNECTION_STRING: applicationInsights.properties.ConnectionString
  AzureWebJobsStorage__blobServiceUri: blobEndpoint
  AzureWebJobsStorage__clientId: identityClientId
  AzureWebJobsStorage__credential: 'managedidentity'
}

// AUTH_MODE makes the application believe the header that the platform writes about a caller, so the platform has to be
// the one that writes it: both come from this one value, and no setting of main.bicep can change it.
var signIn = authMode == 'easyauth'
var tenantId = empty(authTenantId) ? tenant().tenantId : authTenantId
var accessSettings = {
  AUTH_MODE: authMode
  AUTH_TENANT_ID: signIn ? tenantId : ''
}
var allSettings = union(settings, platformSettings, accessSettings)

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: {
    reserved: true
  }
}

resource site 'Microsoft.Web/sites@2025-03-01' = {
  name: name
  location: location
  tags: union(tags, { 'azd-service-name': serviceName })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityId}': {}
    }
  }
  properties: {
    clientAffinityEnabled: false
    functionAppConfig: {
      deployment: {
        storage: {
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
          type: 'blobContainer'
          value: containerUrl
        }
      }
      runtime: {
        name: 'python'
        version: pythonVersion
      }
      scaleAndConcurrency: {
        alwaysReady: alwaysReadyInstances == 0
          ? []
          : [
              {
                name: 'http'
                instanceCount: alwaysReadyInstances
              }
            ]
        instanceMemoryMB: instanceMemoryMB
        maximumInstanceCount: maximumInstanceCount
        triggers: {
          http: {
            perInstanceConcurrency: httpConcurrency
          }
        }
      }
      // the platform takes it, and the published types do not know it
      #disable-next-line BCP037
      siteUpdateStrategy: {
        type: siteUpdateStrategy
      }
    }
    // no master key opens /admin; as above
    #disable-next-line BCP037
    functionsRuntimeAdminIsolationEnabled: true
    httpsOnly: true
    keyVaultReferenceIdentity: identityId
    publicNetworkAccess: access == 'private' ? 'Disabled' : 'Enabled'
    serverFarmId: plan.id
    siteConfig: {
      // map and not a loop: a loop may not depend on what another resource answers
      appSettings: map(items(allSettings), setting => { name: setting.key, value: setting.value })
      cors: empty(corsOrigins)
        ? null
        : {
            allowedOrigins: corsOrigins
            supportCredentials: false
          }
      ftpsState: 'Disabled'
      http20Enabled: true
      // private endpoints are not asked by these
      ipSecurityRestrictionsDefaultAction: access == 'public' ? 'Allow' : 'Deny'
      minTlsVersion: minTlsVersion
      scmIpSecurityRestrictionsDefaultAction: access == 'private' ? 'Deny' : 'Allow'
      scmIpSecurityRestrictionsUseMain: false
      scmMinTlsVersion: minTlsVersion
    }
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
  }
}

resource noFtpPassword 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2025-03-01' = {
  parent: site
  name: 'ftp'
  properties: {
    allow: false
  }
}

resource noScmPassword 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2025-03-01' = {
  parent: site
  name: 'scm'
  properties: {
    allow: false
  }
  // the service answers 409 to two of these at a time
  dependsOn: [
    noFtpPassword
  ]
}

module easyAuth 'easyauth.bicep' = {
  name: 'easyauth'
  params: {
    clientId: entraClientId
    enabled: signIn
    siteName: site.name
    tenantId: tenantId
  }
  // one change of the site after the other
  dependsOn: [
    noScmPassword
  ]
}

// the one finished version is of 2016 and knows no audit logs by name
#disable-next-line use-recent-api-versions
resource log 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: site
  name: 'log'
  properties: {
    logs: [
      {
        category: 'FunctionAppLogs'
        enabled: true
      }
    ]
    workspaceId: workspaceId
  }
}

@description('Resource id, for the private endpoint.')
output id string = site.id

@description('Name of the function app.')
output name string = site.name

@description('Address of the function.')
output url string = 'https://${site.properties.defaultHostName}'
