"""Planted faults: a deployment would swallow each, and one of the rules has to notice."""

from __future__ import annotations

FAULTS: dict[str, list[tuple[str, str, str]]] = {
    "infra/modules/keyvault.bicep": [
        (
            "  tags: tags\n",
            "  tags: { p: neo4jPassword }\n",
            "no_key_and_no_password_stands_anywhere",
        ),
        ("@onlyIfNotExists()\n", "", "a_secret_that_was_rotated_stays"),
    ],
    "infra/modules/openai.bicep": [
        ("@batchSize(1)\n", "", "models_are_deployed_one_after_the_other"),
    ],
    "infra/modules/function.bicep": [
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
        ("name: 'checks-${token}'", "name: 'checks'", "a_subscription_can_hold_many_deployments"),
        (
            "${workload}-${environmentName}",
            "${environmentName}-${workload}",
            "what_is_asked_for_is_created_and_nothing_else",
        ),
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
            "what_is_asked_for_is_created_and_nothing_else",
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
            "readEnvironmentVariable('NEO4J_USERNAME'",
            "readEnvironmentVariable('NEO4J_DATABASE'",
            "the_parameter_file_reads_each_value_from_its_own_variable",
        ),
    ],
    "local.settings.json.example": [
        (
            '"ALLOW_PLAINTEXT": "false"',
            '"ALLOW_PLAINTEXT": "true"',
            "the_example_shows_every_setting",
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
"""Of a file: what stands there, what it becomes, and the rule that has to notice."""
