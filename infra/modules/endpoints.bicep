// Private endpoints with their DNS, for what the function uses and for the function itself.
targetScope = 'resourceGroup'

@description('Endpoints to make, each {name, resourceId, groupId, zones}.')
param endpoints array

@description('Prefix of the names of the endpoints.')
param namePrefix string

@description('Region.')
param location string

@description('Tags of every resource.')
param tags object

@description('Subnet of the endpoints.')
param subnetId string

@description('Whether DNS zones are made here and linked to the network; otherwise a policy of yours gives the endpoints their names.')
param dnsZonesEnabled bool

// .../virtualNetworks/NAME/subnets/NAME: the first nine parts name the network
var networkId = join(take(split(subnetId, '/'), 9), '/')
var zoned = dnsZonesEnabled ? endpoints : []
var allZones = flatten(map(zoned, item => item.zones))
// once each: two vaults have the same
var zoneNames = union(allZones, allZones)

resource endpoint 'Microsoft.Network/privateEndpoints@2026-03-01' = [
  for item in endpoints: {
    name: '${namePrefix}-${item.name}'
    location: location
    tags: tags
    properties: {
      privateLinkServiceConnections: [
        {
          name: item.name
          properties: {
            groupIds: [
              item.groupId
            ]
            privateLinkServiceId: item.resourceId
          }
        }
      ]
      subnet: {
        id: subnetId
      }
    }
  }
]

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for zoneName in zoneNames: {
    name: zoneName
    location: 'global'
    tags: tags
  }
]

resource link 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (zoneName, i) in zoneNames: {
    parent: zone[i]
    name: uniqueString(networkId)
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      virtualNetwork: {
        // the network of a subnet that was given: there is no resource here to name
        #disable-next-line use-resource-id-functions
        id: networkId
      }
    }
  }
]

resource names 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2026-03-01' = [
  for (item, i) in zoned: {
    parent: endpoint[i]
    name: 'default'
    properties: {
      // by name, since a loop inside a loop cannot see the resources; they are waited for below
      privateDnsZoneConfigs: map(item.zones, zoneName => {
        name: replace(zoneName, '.', '-')
        properties: {
          privateDnsZoneId: resourceId('Microsoft.Network/privateDnsZones', zoneName)
        }
      })
    }
    dependsOn: [
      zone
    ]
  }
]
