// A network for the function: a subnet that it sends from, a subnet for private endpoints, a fixed outgoing address.
targetScope = 'resourceGroup'

@description('Name of the virtual network.')
param name string

@description('Prefix of the names of the network security groups.')
param securityGroupPrefix string

@description('Name of the NAT gateway.')
param natGatewayName string

@description('Name of the public address of the NAT gateway.')
param publicIpName string

@description('Region.')
param location string

@description('Tags of every resource.')
param tags object

@description('Addresses of the network; the function gets a /26 of it and the endpoints a /27.')
param addressPrefix string

@description('Ports that private endpoints are reached by from the network.')
param endpointPorts array

@description('Whether a NAT gateway gives outgoing traffic one fixed address, for the allow list of AuraDB.')
param natGatewayEnabled bool

resource appSecurityGroup 'Microsoft.Network/networkSecurityGroups@2026-03-01' = {
  name: '${securityGroupPrefix}-app'
  location: location
  tags: tags
}

resource endpointSecurityGroup 'Microsoft.Network/networkSecurityGroups@2026-03-01' = {
  name: '${securityGroupPrefix}-endpoints'
  location: location
  tags: tags
  properties: {
    securityRules: [
      {
        name: 'AllowTlsFromNetwork'
        properties: {
          access: 'Allow'
          description: 'Storage, vault, models, site (443), Redis (10000), and AuraDB (7687) or Milvus by a private link of yours.'
          destinationAddressPrefix: '*'
          destinationPortRanges: endpointPorts
          direction: 'Inbound'
          priority: 100
          protocol: 'Tcp'
          sourceAddressPrefix: 'VirtualNetwork'
          sourcePortRange: '*'
        }
      }
      {
        name: 'DenyOtherInbound'
        properties: {
          access: 'Deny'
          destinationAddressPrefix: '*'
          destinationPortRange: '*'
          direction: 'Inbound'
          priority: 4096
          protocol: '*'
          sourceAddressPrefix: '*'
          sourcePortRange: '*'
        }
      }
    ]
  }
}

resource publicIp 'Microsoft.Network/publicIPAddresses@2026-03-01' = if (natGatewayEnabled) {
  name: publicIpName
  location: location
  tags: tags
  sku: {
    name: 'Standard'
  }
  properties: {
    publicIPAllocationMethod: 'Static'
  }
}

resource natGateway 'Microsoft.Network/natGateways@2026-03-01' = if (natGatewayEnabled) {
  name: natGatewayName
  location: location
  tags: tags
  sku: {
    name: 'Standard'
  }
  properties: {
    publicIpAddresses: [
      {
        id: publicIp.id
      }
    ]
  }
}

// The network does not list its subnets: since version 2023-09-01 a deployment then leaves those alone that it does not
// know, and one that somebody added stays.
resource network 'Microsoft.Network/virtualNetworks@2026-03-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: {
      addressPrefixes: [
        addressPrefix
      ]
    }
  }
}

resource appSubnet 'Microsoft.Network/virtualNetworks/subnets@2026-03-01' = {
  parent: network
  name: 'app'
  properties: {
    addressPrefix: cidrSubnet(addressPrefix, 26, 0)
    defaultOutboundAccess: !natGatewayEnabled
    delegations: [
      {
        name: 'functions'
        properties: {
          serviceName: 'Microsoft.App/environments'
        }
      }
    ]
    natGateway: natGatewayEnabled ? { id: natGateway.id } : null
    networkSecurityGroup: {
      id: appSecurityGroup.id
    }
  }
}

resource endpointSubnet 'Microsoft.Network/virtualNetworks/subnets@2026-03-01' = {
  parent: network
  name: 'endpoints'
  properties: {
    addressPrefix: cidrSubnet(addressPrefix, 27, 2)
    defaultOutboundAccess: false
    networkSecurityGroup: {
      id: endpointSecurityGroup.id
    }
    privateEndpointNetworkPolicies: 'NetworkSecurityGroupEnabled'
  }
  // the service answers 409 to two changes of one network at a time
  dependsOn: [
    appSubnet
  ]
}

@description('Subnet that the function sends from.')
output appSubnetId string = appSubnet.id

@description('Subnet of the private endpoints.')
output endpointSubnetId string = endpointSubnet.id

@description('The fixed outgoing address, empty without a NAT gateway.')
output outgoingAddress string = natGatewayEnabled ? (publicIp.?properties.?ipAddress ?? '') : ''
