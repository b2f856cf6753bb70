// Authentication by the platform, Entra ID alone: who has no token of the tenant for the app registration never reaches the
// application. Tokens are checked and nothing else, so there is no secret, no sign-in page and no store. Where it is off
// that is said as well: a deployment takes away nothing that it does not name.
targetScope = 'resourceGroup'

@description('Name of the function app.')
param siteName string

@description('Whether callers have to sign in.')
param enabled bool

@description('Client id of the app registration that tokens are for.')
param clientId string

@description('Tenant whose tokens are taken.')
param tenantId string

// They answer everybody and hold no data; everything under a path that is named here is open.
var openPaths = [
  '/health/live'
  '/rag'
  '/.well-known/oauth-protected-resource'
]
var entra = {
  enabled: true
  registration: {
    clientId: clientId
    openIdIssuer: '${environment().authentication.loginEndpoint}${tenantId}/v2.0'
  }
  validation: {
    // as tokens of version 2 name it, and as those of version 1 do
    allowedAudiences: [
      clientId
      'api://${clientId}'
    ]
  }
}

resource site 'Microsoft.Web/sites@2025-03-01' existing = {
  name: siteName
}

resource authentication 'Microsoft.Web/sites/config@2025-03-01' = {
  parent: site
  name: 'authsettingsV2'
  properties: {
    // also where it is off: if somebody switches it on by hand, nobody comes in
    globalValidation: {
      excludedPaths: openPaths
      requireAuthentication: true
      unauthenticatedClientAction: 'Return401'
    }
    httpSettings: {
      requireHttps: true
    }
    identityProviders: {
      azureActiveDirectory: enabled ? entra : { enabled: false }
    }
    login: {
      tokenStore: {
        enabled: false
      }
    }
    platform: {
      enabled: enabled
      runtimeVersion: '~1'
    }
  }
}
