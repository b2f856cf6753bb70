// Lets the function's identity into a Managed Redis that is there, made by this template or by others.
targetScope = 'resourceGroup'

@description('Name of the cluster.')
param clusterName string

@description('Object id of the function identity.')
param principalId string

resource cluster 'Microsoft.Cache/redisEnterprise@2025-07-01' existing = {
  name: clusterName
}

resource database 'Microsoft.Cache/redisEnterprise/databases@2025-07-01' existing = {
  parent: cluster
  name: 'default'
}

// letters and digits only are allowed in this name, so no guid()
resource access 'Microsoft.Cache/redisEnterprise/databases/accessPolicyAssignments@2025-07-01' = {
  parent: database
  name: uniqueString(database.id, principalId)
  properties: {
    accessPolicyName: 'default'
    user: {
      objectId: principalId
    }
  }
}

@description('Address for REDIS_URL; it holds no user and no password.')
output url string = 'rediss://${cluster.properties.hostName}:${database.properties.port}'
