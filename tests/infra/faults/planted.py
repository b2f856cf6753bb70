"""The planted faults: each is one that a deployment would swallow, and each names the rule that has
to notice it.
"""

from __future__ import annotations

from tests.infra.faults.planting import COMPILER, Fault

MAIN = "infra/main.bicep"
MODULE = "infra/modules/{}.bicep"
SETTING = "every_setting_has_the_value_of_its_own_parameter"
STORAGE = "storage_takes_no_keys_and_shows_no_blobs"
VAULT = "the_vault_holds_its_secrets_and_keeps_what_is_deleted"
REDIS = "redis_takes_no_keys_and_speaks_tls"
MODELS = "models_take_no_keys_and_are_those_asked_for"
SITE = "the_function_is_keyless_and_scaled_as_asked_for"
TELEMETRY = "logs_and_telemetry_are_kept_as_asked_for"
ALERTS = "alerts_are_whole"
LOGGED = "what_is_used_or_changed_is_logged"
NETWORK = "the_network_lets_in_what_is_needed"
ENDPOINTS = "private_endpoints_lead_to_each_store_by_its_name"
ROLES = "everybody_has_the_least_roles"
ORDER = "everything_waits_for_what_it_needs"
BOUNDS = "parameters_are_bounded_as_the_docs_say"
TAGS = "everything_is_tagged"
HOST = "the_host_is_set_up_as_meant"
PACKED = "only_the_function_is_packed"
FILE = "the_parameter_file_reads_each_value_from_its_own_variable"


def _in(module: str, what: str, right: str, wrong: str, rule: str) -> Fault:
    return Fault(what, MODULE.format(module), right, wrong, rule)


STORES = (
    _in(
        "storage",
        "shared keys are allowed",
        "allowSharedKeyAccess: false",
        "allowSharedKeyAccess: true",
        STORAGE,
    ),
    _in(
        "storage",
        "blobs may be public",
        "allowBlobPublicAccess: false",
        "allowBlobPublicAccess: true",
        STORAGE,
    ),
    _in(
        "storage",
        "the container is public",
        "publicAccess: 'None'",
        "publicAccess: 'Blob'",
        STORAGE,
    ),
    _in("storage", "old TLS", "'TLS1_2'", "'TLS1_0'", STORAGE),
    _in(
        "storage",
        "plain HTTP",
        "supportsHttpsTrafficOnly: true",
        "supportsHttpsTrafficOnly: false",
        STORAGE,
    ),
    _in(
        "storage",
        "open when private",
        "publicAccess ? 'Enabled' : 'Disabled'",
        "'Enabled'",
        STORAGE,
    ),
    _in("storage", "the list lets all in", "publicAccess ? 'Allow' : 'Deny'", "'Allow'", STORAGE),
    _in("storage", "the package is deleted", "snapshot: {", "baseBlob: {", STORAGE),
    _in("storage", "the lifecycle is shorter", "GreaterThan: 30", "GreaterThan: 3", STORAGE),
    _in(
        "storage",
        "deleted blobs are gone",
        "deleteRetentionDays int = 7",
        "deleteRetentionDays int = 1",
        STORAGE,
    ),
    _in(
        "keyvault",
        "policies instead of roles",
        "enableRbacAuthorization: true",
        "enableRbacAuthorization: false",
        VAULT,
    ),
    _in(
        "keyvault",
        "never protected",
        "purgeProtection ? true : null",
        "purgeProtection ? null : true",
        VAULT,
    ),
    _in(
        "keyvault", "open when private", "publicAccess ? 'Enabled' : 'Disabled'", "'Enabled'", VAULT
    ),
    _in(
        "keyvault",
        "the secret has another name",
        "name: 'neo4j-password'",
        "name: 'password'",
        VAULT,
    ),
    _in(
        "keyvault",
        "the password in a tag",
        "  tags: tags\n",
        "  tags: { p: neo4jPassword }\n",
        "no_key_and_no_password_stands_anywhere",
    ),
    _in("keyvault", "the password is not secure", "@secure()\n", "", COMPILER),
    _in(
        "keyvault",
        "a rotated password is overwritten",
        "@onlyIfNotExists()\n",
        "",
        "a_secret_that_was_rotated_stays",
    ),
    _in(
        "redis",
        "keys are allowed",
        "accessKeysAuthentication: 'Disabled'",
        "accessKeysAuthentication: 'Enabled'",
        REDIS,
    ),
    _in("redis", "plain text", "'Encrypted'", "'Plaintext'", REDIS),
    _in("redis", "old TLS", "minimumTlsVersion: '1.2'", "minimumTlsVersion: '1.0'", REDIS),
    _in("redis", "messages are evicted", "'VolatileLRU'", "'NoEviction'", REDIS),
    _in("redis", "another policy", "'NoCluster'", "'OSSCluster'", REDIS),
    _in("openai", "keys are allowed", "disableLocalAuth: true", "disableLocalAuth: false", MODELS),
    _in("openai", "open when private", "publicAccess ? 'Allow' : 'Deny'", "'Allow'", MODELS),
    _in(
        "openai",
        "models change by themselves",
        "'OnceCurrentVersionExpired'",
        "'OnceNewDefaultVersionAvailable'",
        MODELS,
    ),
    _in(
        "openai", "two at a time", "@batchSize(1)\n", "", "models_are_deployed_one_after_the_other"
    ),
)

FUNCTION = (
    _in("function", "plain HTTP", "httpsOnly: true", "httpsOnly: false", SITE),
    _in("function", "FTP is open", "ftpsState: 'Disabled'", "ftpsState: 'FtpsOnly'", SITE),
    _in(
        "function",
        "old TLS at the entrance",
        "scmMinTlsVersion: minTlsVersion",
        "scmMinTlsVersion: '1.0'",
        SITE,
    ),
    _in("function", "passwords for publishing", "allow: false", "allow: true", SITE),
    _in(
        "function",
        "scale is the memory",
        "maximumInstanceCount: maximumInstanceCount",
        "maximumInstanceCount: maximumInstanceCount + 40",
        SITE,
    ),
    _in(
        "function",
        "scale takes the concurrency",
        "instanceCount: alwaysReadyInstances",
        "instanceCount: httpConcurrency",
        SITE,
    ),
    _in("function", "another language", "name: 'python'", "name: 'node'", SITE),
    _in(
        "function",
        "no identity for references",
        "    keyVaultReferenceIdentity: identityId\n",
        "",
        SITE,
    ),
    _in(
        "function",
        "strangers' pages with cookies",
        "supportCredentials: false",
        "supportCredentials: true",
        SITE,
    ),
    _in(
        "function",
        "a host key",
        "AzureWebJobsStorage__credential: 'managedidentity'",
        "AzureWebJobsStorage: ''",
        SETTING,
    ),
    _in(
        "function",
        "telemetry without identity",
        "  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: "
        "'ClientId=${identityClientId};Authorization=AAD'\n",
        "",
        SETTING,
    ),
    _in("function", "two at a time", "  dependsOn: [\n    noFtpPassword\n  ]\n", "", ORDER),
    Fault(
        "people's settings are lost",
        MAIN,
        "union(mapValues(appSettings, value => string(value)), wiredSettings)",
        "wiredSettings",
        SETTING,
    ),
    Fault(
        "people's settings are one",
        MAIN,
        "mapValues(appSettings, value => string(value))",
        "mapValues(appSettings, value => string(appSettings))",
        SETTING,
    ),
    Fault(
        "a model for its deployment",
        MAIN,
        "OAI_MODEL: chatDeploymentName",
        "OAI_MODEL: chatModelName",
        SETTING,
    ),
    Fault("a setting is lost", MAIN, "  MAX_INFLIGHT: string(httpConcurrency)\n", "", SETTING),
    Fault(
        "the password in plain text",
        MAIN,
        "'@Microsoft.KeyVault(SecretUri=${secretAccess.outputs.referenceUri})'",
        "neo4jPassword!",
        "no_key_and_no_password_stands_anywhere",
    ),
    Fault(
        "questions in the log",
        MAIN,
        "var wiredSettings = {",
        "var wiredSettings = {\n  LOG_QUESTIONS: 'true'",
        SETTING,
    ),
    Fault(
        "a secret among the settings",
        MAIN,
        "  'OAI_KEY'\n",
        "",
        "each_check_lets_through_what_it_names_and_no_more",
    ),
    Fault(
        "the site does not wait for roles",
        MAIN,
        "    endpoints\n    rbac\n",
        "    endpoints\n",
        ORDER,
    ),
    Fault("nothing waits for the checks", MAIN, "  dependsOn: [\n    checks\n  ]\n", "", ORDER),
    Fault(
        "a wider default",
        MAIN,
        "param maximumInstanceCount int = 40",
        "param maximumInstanceCount int = 400",
        BOUNDS,
    ),
    Fault(
        "a longer wait for an alert",
        MAIN,
        "@maxValue(225)\nparam alertRetrievalSeconds",
        "@maxValue(600)\nparam alertRetrievalSeconds",
        COMPILER,
    ),
    Fault(
        "unprotected by default",
        MAIN,
        "keyVaultPurgeProtection bool = true",
        "keyVaultPurgeProtection bool = false",
        VAULT,
    ),
    Fault(
        "a name that changes",
        MAIN,
        "name: 'checks-${token}'",
        "name: 'checks'",
        "a_subscription_can_hold_many_deployments",
    ),
    Fault(
        "a group of another name",
        MAIN,
        "${workload}-${environmentName}",
        "${environmentName}-${workload}",
        "nothing_else_is_created_and_the_group_is_ours",
    ),
    Fault(
        "azd's tag is lost", MAIN, "union(tags, { 'azd-env-name': environmentName })", "tags", TAGS
    ),
)

AROUND = (
    _in(
        "rbac",
        "the function owns the account",
        "'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'",
        "'8e3af657-a8ff-443c-a75c-2fe8c4bcb635'",
        ROLES,
    ),
    _in(
        "secret-access",
        "the function may write",
        "secretsUser)\n  }\n}\n\nresource developer",
        "secretsOfficer)\n  }\n}\n\nresource developer",
        ROLES,
    ),
    _in("secret-access", "the whole vault", "  scope: secret\n", "  scope: vault\n", ROLES),
    _in(
        "openai-access",
        "more than using models",
        "'5e0bd9bd-7b93-4f28-af87-19fc36ad61bd'",
        "'a001fd3d-188f-4b5d-821b-7da978bf7442'",
        ROLES,
    ),
    _in(
        "monitoring",
        "telemetry with a key",
        "DisableLocalAuth: true",
        "DisableLocalAuth: false",
        TELEMETRY,
    ),
    _in(
        "monitoring",
        "logs are dropped early",
        "dailyQuotaGb: dailyQuotaGb",
        "dailyQuotaGb: dailyQuotaGb / 5",
        TELEMETRY,
    ),
    _in(
        "monitoring",
        "an alert looks away",
        "windowSize: 'PT15M'",
        "windowSize: 'PT1M'",
        "an_alert_looks_at_each_minute",
    ),
    _in(
        "monitoring",
        "an alert is off",
        "enabled: true\n      evaluationFrequency",
        "enabled: false\n      evaluationFrequency",
        ALERTS,
    ),
    _in(
        "monitoring",
        "errors of callers count",
        "toint(resultCode) >= 500)\n| where total",
        "toint(resultCode) >= 400)\n| where total",
        ALERTS,
    ),
    _in(
        "monitoring",
        "a later threshold",
        "threshold: alertRetrievalSeconds",
        "threshold: 10 * alertRetrievalSeconds",
        ALERTS,
    ),
    _in(
        "keyvault",
        "no audit",
        "category: 'AuditEvent'\n        enabled: true",
        "category: 'AuditEvent'\n        enabled: false",
        LOGGED,
    ),
    _in(
        "storage",
        "deletions are not logged",
        "category: 'StorageDelete'",
        "category: 'StorageRead'",
        LOGGED,
    ),
    _in("network", "any port", "          protocol: 'Tcp'", "          protocol: '*'", NETWORK),
    _in(
        "network",
        "from anywhere",
        "sourceAddressPrefix: 'VirtualNetwork'",
        "sourceAddressPrefix: 'Internet'",
        NETWORK,
    ),
    _in(
        "network",
        "no delegation",
        "'Microsoft.App/environments'",
        "'Microsoft.Web/serverFarms'",
        NETWORK,
    ),
    Fault(
        "another zone",
        MAIN,
        "'privatelink.redis.azure.net'",
        "'privatelink.redisenterprise.azure.net'",
        ENDPOINTS,
    ),
    Fault("another part", MAIN, "groupId: 'redisEnterprise'", "groupId: 'redisCache'", ENDPOINTS),
    Fault(
        "one zone for AIServices",
        MAIN,
        "'privatelink.cognitiveservices.azure.com', ",
        "",
        ENDPOINTS,
    ),
    _in(
        "endpoints",
        "names register themselves",
        "registrationEnabled: false",
        "registrationEnabled: true",
        ENDPOINTS,
    ),
    Fault(
        "models stay public",
        MAIN,
        "publicAccess: !vnetEnabled\n    tags: allTags\n    workspaceId: "
        "monitoring.outputs.workspaceId\n  }\n}\n\n//",
        "publicAccess: true\n    tags: allTags\n    workspaceId: monitoring.outputs.workspaceId\n  "
        "}\n}\n\n//",
        MODELS,
    ),
    Fault(
        "a longer time-out",
        "host.json",
        '"00:05:00"',
        '"00:03:00"',
        "the_function_gives_up_before_the_platform",
    ),
    Fault("answers are cached", "host.json", '"no-store"', '"max-age=60"', HOST),
    Fault("requests are sampled", "host.json", "Request;Exception", "Exception", HOST),
    Fault("local settings are packed", ".funcignore", "local.settings.json\n", "", PACKED),
    Fault("tests are packed", ".funcignore", "tests\n", "", PACKED),
    Fault(
        "the hook is lost",
        "azure.yaml",
        "  predown:",
        "  postdown:",
        "azd_finds_template_service_and_hooks",
    ),
    Fault(
        "another service", "azure.yaml", "  api:", "  web:", "azd_finds_template_service_and_hooks"
    ),
    Fault(
        "a rule is off",
        "infra/bicepconfig.json",
        '"secure-parameter-default": { "level": "error" }',
        '"secure-parameter-default": { "level": "off" }',
        "the_linter_refuses_what_it_finds",
    ),
    Fault(
        "another variable",
        "infra/main.bicepparam",
        "'NEO4J_USERNAME', 'neo4j'",
        "'NEO4J_DATABASE', 'neo4j'",
        FILE,
    ),
    Fault(
        "the password has a default",
        "infra/main.bicepparam",
        "readEnvironmentVariable(passwordVariable)",
        "readEnvironmentVariable(passwordVariable, 'changeme1')",
        FILE,
    ),
)

FAULTS = (*STORES, *FUNCTION, *AROUND)
