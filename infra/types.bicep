// Shapes of parameters that belong together.
@export()
type namesOfYours = {
  @maxLength(90)
  resourceGroup: string?
  @maxLength(60)
  functionApp: string?
  @description('Lower-case letters and digits.')
  @maxLength(24)
  storageAccount: string?
  @maxLength(24)
  keyVault: string?
  @maxLength(64)
  openAi: string?
  @maxLength(60)
  redis: string?
}

@export()
type principal = {
  @description('Object id.')
  @minLength(36)
  @maxLength(36)
  id: string
  type: 'User' | 'Group' | 'ServicePrincipal'
}

@minLength(1)
@maxLength(64)
type modelName = string

@export()
type chatModel = {
  deployment: modelName
  model: modelName
  version: modelName
  @description('Where its requests are processed.')
  sku:
    | 'GlobalStandard'
    | 'DataZoneStandard'
    | 'Standard'
    | 'GlobalProvisionedManaged'
    | 'DataZoneProvisionedManaged'
    | 'ProvisionedManaged'
  @minValue(1)
  @maxValue(10000)
  capacity: int
}

@export()
type embeddingModel = {
  deployment: modelName
  model: modelName
  version: modelName
  @description('Where its requests are processed.')
  sku: 'GlobalStandard' | 'DataZoneStandard' | 'Standard'
  @minValue(1)
  @maxValue(10000)
  capacity: int
}

@export()
type alertLimits = {
  @maxLength(254)
  email: string
  @minValue(1)
  @maxValue(100)
  failurePercent: int
  @minValue(1)
  @maxValue(225)
  retrievalSeconds: int
  @minValue(1)
  @maxValue(60)
  embeddingSeconds: int
}
