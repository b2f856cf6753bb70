"""Planted faults: a deployment would swallow each, and one of the rules has to notice."""

from __future__ import annotations

COMPILER = "the compiler"
"""What finds a fault that the compiler, its linter or the engine refuses."""

SNAPSHOT = "a committed snapshot"
"""What finds a fault that is seen in what would be deployed, and in no rule."""

FAULTS: dict[str, list[tuple[str, str, str]]] = {
    "infra/modules/storage.bicep": [
        (
            "allowSharedKeyAccess: false",
            "allowSharedKeyAccess: true",
            "nothing_takes_keys_or_plain_text",
        ),
        (
            "allowBlobPublicAccess: false",
            "allowBlobPublicAccess: true",
            "nothing_takes_keys_or_plain_text",
        ),
    ],
    "infra/modules/keyvault.bicep": [
        (
            "enableRbacAuthorization: true",
            "enableRbacAuthorization: false",
            "nothing_takes_keys_or_plain_text",
        ),
        (
            "  tags: tags\n",
            "  tags: { p: neo4jPassword }\n",
            "no_key_and_no_password_stands_anywhere",
        ),
        ("@secure()\n", "", COMPILER),
        ("@onlyIfNotExists()\n", "", "a_secret_that_was_rotated_stays"),
        (
            "category: 'AuditEvent'\n        enabled: true",
            "category: 'AuditEvent'\n        enabled: false",
            "what_is_used_or_changed_is_logged",
        ),
    ],
    "infra/modules/redis.bicep": [
        (
            "accessKeysAuthentication: 'Disabled'",
            "accessKeysAuthentication: 'Enabled'",
            "nothing_takes_keys_or_plain_text",
        ),
    ],
    "infra/modules/openai.bicep": [
        ("disableLocalAuth: true", "disableLocalAuth: false", "nothing_takes_keys_or_plain_text"),
        ("@batchSize(1)\n", "", "models_are_deployed_one_after_the_other"),
    ],
    "infra/modules/function.bicep": [
        ("httpsOnly: true", "httpsOnly: false", "nothing_takes_keys_or_plain_text"),
        (
            "AzureWebJobsStorage__credential: 'managedidentity'",
            "AzureWebJobsStorage: ''",
            "settings_are_those_that_are_read",
        ),
        (
            "  APPLICATIONINSIGHTS_AUTHENTICATION_STRING:",
            "  OF_TELEMETRY:",
            "settings_are_those_that_are_read",
        ),
        ("  dependsOn: [\n    noFtpPassword\n  ]\n", "", "everything_waits_for_what_it_needs"),
        (
            "enabled: signIn",
            "enabled: false",
            "the_application_believes_the_platform_where_it_asks_for_tokens",
        ),
    ],
    "infra/main.bicep": [
        ("param maximumInstanceCount int = 40", "param maximumInstanceCount int = 400", SNAPSHOT),
        ("name: 'checks-${token}'", "name: 'checks'", "a_subscription_can_hold_many_deployments"),
        (
            "${workload}-${environmentName}",
            "${environmentName}-${workload}",
            "what_is_asked_for_is_created_and_nothing_else",
        ),
        ("union(tags, { 'azd-env-name': environmentName })", "tags", "everything_is_tagged"),
        (
            "'privatelink.redis.azure.net'",
            "'privatelink.redisenterprise.azure.net'",
            "private_endpoints_lead_to_each_store_by_its_name",
        ),
        (
            "milvus ? [milvusPort] : []",
            "milvus ? ['1${milvusPort}'] : []",
            "the_network_lets_in_what_is_needed",
        ),
        ("minute and run: azd deploy", "minute and run: azd up", SNAPSHOT),
        (
            "    publicAccess: !vnetEnabled\n    publicQueries",
            "    publicAccess: true\n    publicQueries",
            "no_public_door_is_open_in_a_private_way",
        ),
        (
            "createNetwork ? (network.?outputs.outgoingAddress ?? '') : ''",
            "''",
            "the_outgoing_address_is_told_where_there_is_one",
        ),
        (
            "natGatewayEnabled: natGatewayEnabled",
            "natGatewayEnabled: natGatewayEnabled && privateDnsZonesEnabled",
            "a_module_gets_a_parameter_as_it_is",
        ),
    ],
    "infra/modules/rbac.bicep": [
        (
            "'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'",
            "'8e3af657-a8ff-443c-a75c-2fe8c4bcb635'",
            "everybody_has_the_least_roles",
        ),
    ],
    "infra/modules/secret-access.bicep": [
        (
            "secretsUser)\n  }\n}\n\nresource developer",
            "secretsOfficer)\n  }\n}\n\nresource developer",
            "everybody_has_the_least_roles",
        ),
    ],
    "infra/modules/monitoring.bicep": [
        ("DisableLocalAuth: true", "DisableLocalAuth: false", "nothing_takes_keys_or_plain_text"),
        ("windowSize: 'PT15M'", "windowSize: 'PT1M'", "an_alert_looks_at_each_minute"),
        (
            "enabled: true\n      evaluationFrequency",
            "enabled: false\n      evaluationFrequency",
            "nothing_takes_keys_or_plain_text",
        ),
        (
            "InsightsName string = applicationInsights.name",
            "InsightsName string = applicationInsights.properties.ConnectionString",
            "an_output_holds_no_secret",
        ),
    ],
    "infra/modules/network.bicep": [
        (
            "          protocol: 'Tcp'",
            "          protocol: '*'",
            "the_network_lets_in_what_is_needed",
        ),
    ],
    "host.json": [
        ('"00:05:00"', '"00:03:00"', "the_function_gives_up_before_the_platform"),
        ('"no-store"', '"max-age=60"', "the_host_is_set_up_as_meant"),
    ],
    "azure.yaml": [
        ("  predown:", "  postdown:", "azd_runs_the_hooks_and_builds_nothing_on_azure"),
    ],
    "infra/bicepconfig.json": [
        (
            '"secure-parameter-default": { "level": "error" }',
            '"secure-parameter-default": { "level": "off" }',
            "the_linter_refuses_what_it_finds",
        ),
    ],
    "infra/main.bicepparam": [
        (
            "'NEO4J_USERNAME', 'neo4j'",
            "'NEO4J_DATABASE', 'neo4j'",
            "the_parameter_file_reads_each_value_from_its_own_variable",
        ),
    ],
    ".github/workflows/ci.yml": [
        (
            "permissions:\n  contents: read\n",
            "permissions: write-all\n",
            "a_workflow_may_read_and_a_login_gets_its_token",
        ),
    ],
    "local.settings.json.example": [
        (
            '"ALLOW_PLAINTEXT": "false"',
            '"ALLOW_PLAINTEXT": "true"',
            "the_example_shows_every_setting",
        ),
    ],
    "infra/modules/easyauth.bicep": [
        (
            "tokenStore: {\n        enabled: false",
            "tokenStore: {\n        enabled: true",
            "nothing_takes_keys_or_plain_text",
        ),
    ],
    "infra/modules/endpoints.bicep": [
        (
            "union(allZones, allZones)",
            "concat(allZones, [])",
            "a_zone_of_two_endpoints_is_made_once",
        ),
    ],
}
"""Of a file: what stands there, what it becomes, and what has to notice."""
