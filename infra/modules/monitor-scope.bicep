// Lets a network send telemetry and read logs: workspace and component join the scope of the network.
targetScope = 'resourceGroup'

@description('Name of the scope.')
param scopeName string

@description('Resource group of workspace and component.')
param groupName string

@description('Name of the Log Analytics workspace.')
param workspaceName string

@description('Name of the Application Insights component.')
param componentName string

@description('Prefix of the names in the scope, which others may share.')
param namePrefix string

resource privateLinkScope 'Microsoft.Insights/privateLinkScopes@2021-09-01' existing = {
  name: scopeName
}

resource scopedWorkspace 'Microsoft.Insights/privateLinkScopes/scopedResources@2021-09-01' = {
  parent: privateLinkScope
  name: '${namePrefix}-workspace'
  properties: {
    linkedResourceId: resourceId(groupName, 'Microsoft.OperationalInsights/workspaces', workspaceName)
  }
}

resource scopedComponent 'Microsoft.Insights/privateLinkScopes/scopedResources@2021-09-01' = {
  parent: privateLinkScope
  name: '${namePrefix}-component'
  properties: {
    linkedResourceId: resourceId(groupName, 'Microsoft.Insights/components', componentName)
  }
  // one change of the scope after the other
  dependsOn: [
    scopedWorkspace
  ]
}
