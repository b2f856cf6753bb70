// Where Bicep has no decorator for a rule, the rule's sentence is computed in main.bicep and arrives here: any value but
// 'none' is refused before anything is created, and the platform's message repeats the sentence.
targetScope = 'subscription'

@description('What is wrong with the parameters, or none.')
param problems 'none'

@description('The same, so that a deployment shows that its parameters were checked.')
output problems string = problems
