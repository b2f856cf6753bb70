// The one identity of the function: everything it may do is a role of this identity.
targetScope = 'resourceGroup'

@description('Name of the user-assigned managed identity.')
param name string

@description('Region.')
param location string

@description('Tags of every resource.')
param tags object

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

@description('Resource id: the site runs as this identity.')
output id string = identity.id

@description('Client id: what the SDKs ask for.')
output clientId string = identity.properties.clientId

@description('Object id: what roles and the Redis access policy are given to.')
output principalId string = identity.properties.principalId
