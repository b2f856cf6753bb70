#!/bin/sh
# Refuses to provision into, or to take down, a resource group that holds what this environment did not make: taking an
# environment down deletes its whole group. azd runs this; with az alone, run it before `az deployment sub create`.
set -eu

environment=${AZURE_ENV_NAME:?is not set: the name of the environment}
usual=rg-drift-$environment-${AZURE_LOCATION:?is not set: the region}
group=${AZURE_RESOURCE_GROUP:-${RESOURCE_GROUP_NAME:-$(printf %.90s "$usual")}}

if ! command -v az > /dev/null; then
  echo "az is needed to see what the resource group $group holds: install the Azure CLI and sign in with az login." >&2
  exit 1
fi

# without a subscription of its own, az takes the one that it is signed in to
set -- ${AZURE_SUBSCRIPTION_ID:+--subscription "$AZURE_SUBSCRIPTION_ID"}

if [ "$(az group exists --name "$group" "$@")" = false ]; then
  exit 0
fi

# Azure adds some by itself, without tags: network cards of private endpoints, and what Application Insights detects with.
found=$(az resource list --resource-group "$group" "$@" --output tsv --query "[?tags.\"azd-env-name\" != '$environment'
  && type != 'Microsoft.Network/networkInterfaces'
  && type != 'microsoft.alertsmanagement/smartDetectorAlertRules'
  && type != 'Microsoft.AlertsManagement/smartDetectorAlertRules'
  && name != 'Application Insights Smart Detection'].id")

# a part of a resource belongs to the resource: only ids of nine segments are resources of their own
others=$(printf '%s\n' "$found" | awk -F / 'NF == 9')

if [ -n "$others" ]; then
  echo "The resource group $group holds what the environment $environment did not make, and taking it down would delete it:" >&2
  echo "$others" >&2
  echo "Give the environment a group of its own: azd env set RESOURCE_GROUP_NAME NAME" >&2
  exit 1
fi
