"""Faults that were written from the templates alone, before their author had read a rule, and more
of the kinds that got by.
"""

from __future__ import annotations

from tests.infra.faults.planted import (
    ALERTS,
    BOUNDS,
    ENDPOINTS,
    FILE,
    LOGGED,
    MAIN,
    MODULE,
    NETWORK,
    PACKED,
    REDIS,
    ROLES,
    SETTING,
    SITE,
    STORAGE,
    TAGS,
    VAULT,
)
from tests.infra.faults.planting import Fault

CHECKS = "each_check_lets_through_what_it_names_and_no_more"
AS_IT_IS = "a_module_gets_a_parameter_as_it_is"
ADDRESS = "the_outgoing_address_is_told_where_there_is_one"
OUTPUTS = "outputs_say_where_everything_is"
CLOSED = "no_public_door_is_open_in_a_private_way"
RIGHTS = "a_workflow_may_read_and_a_login_gets_its_token"


def _main(what: str, right: str, wrong: str, rule: str) -> Fault:
    return Fault(what, MAIN, right, wrong, rule)


def _in(module: str, what: str, right: str, wrong: str, rule: str) -> Fault:
    return Fault(what, MODULE.format(module), right, wrong, rule)


VALUES = (
    _main(
        "an embedding's deployment for its model",
        "OAI_EMBED_MODEL_NAME: embeddingModelName",
        "OAI_EMBED_MODEL_NAME: embeddingDeploymentName",
        SETTING,
    ),
    _main(
        "concurrency takes the instances",
        "    httpConcurrency: httpConcurrency\n",
        "    httpConcurrency: maximumInstanceCount\n",
        SITE,
    ),
    _main(
        "seconds of alerts change places",
        "alertEmbeddingSeconds: alertEmbeddingSeconds\n    alertFailurePercent: "
        "alertFailurePercent\n"
        "    alertRetrievalSeconds: alertRetrievalSeconds",
        "alertEmbeddingSeconds: min(alertRetrievalSeconds, 60)\n    alertFailurePercent: "
        "alertFailurePercent\n"
        "    alertRetrievalSeconds: alertEmbeddingSeconds",
        ALERTS,
    ),
    _in(
        "keyvault",
        "deleted secrets are gone after a week",
        "softDeleteRetentionInDays: softDeleteRetentionDays",
        "softDeleteRetentionInDays: min(softDeleteRetentionDays, 7)",
        VAULT,
    ),
    _in("redis-access", "an address without TLS", "'rediss://", "'redis://", SETTING),
    _in(
        "secret-access",
        "the secret stays at one version",
        "'${vault.properties.vaultUri}secrets/${secretName}'",
        "secret.properties.secretUriWithVersion",
        SETTING,
    ),
    Fault(
        "both subnets from one variable",
        "infra/main.bicepparam",
        "'EXISTING_ENDPOINT_SUBNET_ID'",
        "'EXISTING_APP_SUBNET_ID'",
        FILE,
    ),
    _in(
        "monitoring",
        "the median for the slowest",
        "percentile(duration, 95)",
        "percentile(duration, 50)",
        ALERTS,
    ),
    _in(
        "storage",
        "packages are forgotten",
        "              snapshot: {\n",
        "              baseBlob: {\n                delete: {\n                  "
        "daysAfterModificationGreaterThan: 30\n"
        "                }\n              }\n              snapshot: {\n",
        STORAGE,
    ),
    _main(
        "another step that is left", "minute and run: azd deploy", "minute and run: azd up", OUTPUTS
    ),
)

DOORS = (
    _main(
        "Redis is public in a network of yours",
        "name: names.redis\n    publicAccess: !vnetEnabled",
        "name: names.redis\n    publicAccess: !createNetwork",
        REDIS,
    ),
    _main(
        "storage is as public as the site",
        "name: names.storage\n    publicAccess: !vnetEnabled",
        "name: names.storage\n    publicAccess: access == 'public'",
        STORAGE,
    ),
    _in(
        "function",
        "open where only deployments may come",
        "DefaultAction: access == 'public' ?",
        "DefaultAction: access != 'private' ?",
        SITE,
    ),
    _in("rbac", "telemetry of the whole group", "  scope: applicationInsights\n", "", ROLES),
    _in(
        "secret-access",
        "the operator has the whole vault",
        "  scope: secret\n  name: guid(secret.id, officerPrincipalId",
        "  scope: vault\n  name: guid(secret.id, officerPrincipalId",
        ROLES,
    ),
    _in("redis", "the log of the cluster", "  scope: database\n", "  scope: cluster\n", LOGGED),
    _in(
        "network",
        "the NAT gateway has no subnet",
        "    natGateway: natGatewayEnabled ? { id: natGateway.id } : null\n",
        "",
        NETWORK,
    ),
    _in(
        "network",
        "what comes in is not denied",
        "destinationPortRange: '*'\n          direction: 'Inbound'",
        "destinationPortRange: '*'\n          direction: 'Outbound'",
        NETWORK,
    ),
    _in(
        "network",
        "subnets overlap",
        "cidrSubnet(addressPrefix, 27, 2)",
        "cidrSubnet(addressPrefix, 27, 1)",
        NETWORK,
    ),
    _main(
        "the site's endpoint in the other subnet",
        "subnetId: endpointSubnetId\n    tags: allTags\n  }\n}\n\n// ---- for callers",
        "subnetId: appSubnetId\n    tags: allTags\n  }\n}\n\n// ---- for callers",
        ENDPOINTS,
    ),
    _main(
        "an endpoint to a Redis that is off",
        "redisMode == 'create' || (redisMode == 'existing' && existingEndpointsEnabled)",
        "redisMode == 'create' || existingEndpointsEnabled",
        ENDPOINTS,
    ),
    _main(
        "no endpoint to a vault of yours",
        "wanted: createVault || existingEndpointsEnabled",
        "wanted: createVault",
        ENDPOINTS,
    ),
    _main(
        "a second endpoint to models of yours",
        "wanted: openAiMode == 'create' || existingEndpointsEnabled",
        "wanted: true",
        ENDPOINTS,
    ),
)

GIVEN = (
    _in(
        "network",
        "an address without tags",
        "name: publicIpName\n  location: location\n  tags: tags\n",
        "name: publicIpName\n  location: location\n",
        TAGS,
    ),
    _main(
        "another tag for azd's",
        "union(tags, { 'azd-env-name': environmentName })",
        "union({ 'azd-env-name': environmentName }, tags)",
        TAGS,
    ),
    _in(
        "function",
        "another tag for the service's",
        "union(tags, { 'azd-service-name': serviceName })",
        "union({ 'azd-service-name': serviceName }, tags)",
        SITE,
    ),
    _main(
        "any certificate is taken",
        "|| startsWith(neo4jUri, 'bolt+s://')",
        "|| startsWith(neo4jUri, 'bolt+s://') || startsWith(neo4jUri, 'neo4j+ssc://')",
        CHECKS,
    ),
    _main(
        "a scheme by half",
        "startsWith(neo4jUri, 'neo4j+s://')",
        "startsWith(neo4jUri, 'neo4j+s')",
        CHECKS,
    ),
    _main(
        "nobody can call",
        "functionAccess == 'public' || functionAccess == 'auto'",
        "functionAccess != 'private'",
        CHECKS,
    ),
    _main(
        "a key for a secret", " && contains(toLower(neo4jCredentialId), '/secrets/')", "", CHECKS
    ),
    _main(
        "one subnet is checked twice",
        "toLower(existingEndpointSubnetId),",
        "toLower(existingAppSubnetId),",
        CHECKS,
    ),
)

UNSEEN = (
    _in(
        "monitoring",
        "a table keeps telemetry as long as it likes",
        "  'AppRequests'\n",
        "",
        "logs_and_telemetry_are_kept_as_asked_for",
    ),
    _main(
        "logs are open",
        "    publicAccess: !vnetEnabled\n    publicQueries",
        "    publicAccess: true\n    publicQueries",
        CLOSED,
    ),
    _in(
        "monitoring",
        "the component does not say whether it is open",
        "    publicNetworkAccessForIngestion: ingestionAccess\n    publicNetworkAccessForQuery: "
        "queryAccess\n  }\n}\n\n// Open",
        "  }\n}\n\n// Open",
        CLOSED,
    ),
    _in(
        "monitoring",
        "nobody hears that logs are dropped",
        "name: 'logs-are-dropped'",
        "name: 'logs-are-dropped-silently'",
        ALERTS,
    ),
    _in(
        "network",
        "subnets of others are deleted",
        "    addressSpace: {",
        "    subnets: []\n    addressSpace: {",
        NETWORK,
    ),
    _main(
        "a unit for every thousand tokens",
        "provisioned && chatCapacity == 520",
        "provisioned && chatCapacity == 0",
        CHECKS,
    ),
    _main("an address for a range", "length(addressParts) == 2 && ", "", CHECKS),
    _in(
        "monitoring",
        "a connection string is handed on",
        "output applicationInsightsName string = applicationInsights.name",
        "output applicationInsightsName string = applicationInsights.properties.ConnectionString",
        "an_output_holds_no_secret",
    ),
    Fault(
        "a workflow may write everything",
        ".github/workflows/ci.yml",
        "permissions:\n  contents: read\n",
        "permissions: write-all\n",
        RIGHTS,
    ),
    Fault(
        "a job may write the repository",
        ".github/workflows/deploy.yml",
        "      contents: read\n      id-token: write",
        "      contents: write\n      id-token: write",
        RIGHTS,
    ),
    _main(
        "the outgoing address is not told",
        "createNetwork ? (network.?outputs.outgoingAddress ?? '') : ''",
        "''",
        ADDRESS,
    ),
    _in(
        "network",
        "an address only without NAT",
        "natGatewayEnabled ? (publicIp.?properties.?ipAddress ?? '') : ''",
        "natGatewayEnabled ? '' : (publicIp.?properties.?ipAddress ?? '')",
        ADDRESS,
    ),
    _main(
        "azd asks for no region",
        "@metadata({\n  azd: {\n    type: 'location'\n  }\n})\n",
        "",
        BOUNDS,
    ),
    Fault(
        "a variable is not read",
        "infra/main.bicepparam",
        "param alertEmail = readEnvironmentVariable('ALERT_EMAIL', '')\n",
        "",
        FILE,
    ),
    Fault(
        "plain text in the example",
        "local.settings.json.example",
        '"ALLOW_PLAINTEXT": "false"',
        '"ALLOW_PLAINTEXT": "true"',
        "the_example_shows_every_setting",
    ),
    _main(
        "a group of any length",
        "take('${abbrs.resourceGroup}${workload}-${environmentName}-${location}', 90)",
        "'${abbrs.resourceGroup}${workload}-${environmentName}-${location}'",
        "nothing_else_is_created_and_the_group_is_ours",
    ),
)

TOGETHER = (
    _main(
        "no NAT where zones are made elsewhere",
        "natGatewayEnabled: natGatewayEnabled",
        "natGatewayEnabled: natGatewayEnabled && privateDnsZonesEnabled",
        AS_IT_IS,
    ),
    _main(
        "a replica is always paid in public",
        "highAvailability: redisHighAvailability",
        "highAvailability: redisHighAvailability || !vnetEnabled",
        REDIS,
    ),
    _main(
        "the lowest TLS is kept for networks",
        "    minTlsVersion: minTlsVersion",
        "    minTlsVersion: vnetEnabled ? minTlsVersion : '1.2'",
        SITE,
    ),
    Fault("azd's environments are committed", ".gitignore", ".azure/\n", "", PACKED),
)

FAULTS = (*VALUES, *DOORS, *GIVEN, *UNSEEN, *TOGETHER)
