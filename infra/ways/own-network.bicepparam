// As private, in subnets of yours, with DNS zones that a policy of yours makes.
using '../main.bicep'

param environmentName = 'prod'
param location = 'westeurope'
param appSettings = {
  NEO4J_URI: 'neo4j+s://0a1b2c3d.databases.neo4j.io'
}
param neo4jPassword = readEnvironmentVariable('NEO4J_PASSWORD')

param vnetEnabled = true
param existingAppSubnetId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/hub/subnets/functions'
param existingEndpointSubnetId = '/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/hub/subnets/endpoints'
param privateDnsZonesEnabled = false
