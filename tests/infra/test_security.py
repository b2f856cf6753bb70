"""No keys, no secrets in plain sight, least rights, and nothing public where everything is to be private."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.infra.bicep_deployment import RefusedError, Resource, deploy
from tests.infra.bicep_functions import FUNCTIONS
from tests.infra.bicep_tree import BicepFile
from tests.infra.templates import (
    CANARY,
    FILES,
    INFRA,
    MAIN,
    REQUIRED,
    WAYS,
    app_settings,
    deployed,
    only,
    outputs,
    resources,
    texts,
)

STORAGE = "Microsoft.Storage/storageAccounts"
VAULT = "Microsoft.KeyVault/vaults"
SECRET = "Microsoft.KeyVault/vaults/secrets"
REDIS = "Microsoft.Cache/redisEnterprise"
DATABASE = "Microsoft.Cache/redisEnterprise/databases"
OPENAI = "Microsoft.CognitiveServices/accounts"
INSIGHTS = "Microsoft.Insights/components"
SITE = "Microsoft.Web/sites"
ROLE = "Microsoft.Authorization/roleAssignments"
ENDPOINT = "Microsoft.Network/privateEndpoints"
ZONE = "Microsoft.Network/privateDnsZones"

ROLES = {
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe": "Storage Blob Data Contributor",
    "4633458b-17de-408a-b874-0445c86b69e6": "Key Vault Secrets User",
    "5e0bd9bd-7b93-4f28-af87-19fc36ad61bd": "Cognitive Services OpenAI User",
    "3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
}
FUNCTION_ROLES = {
    (STORAGE, "Storage Blob Data Owner"),
    (VAULT, "Key Vault Secrets User"),
    (OPENAI, "Cognitive Services OpenAI User"),
    (INSIGHTS, "Monitoring Metrics Publisher"),
}
KEY = re.compile(
    r"AccountKey=|SharedAccess|[?&]sig=|listKeys|primaryKey|password=|://[^/@\s]+:[^/@\s]+@", re.IGNORECASE
)

every_way = pytest.mark.parametrize("way", WAYS)


# ------------------------------------------------------------------------------------------------ keys and secrets
@every_way
def test_no_key_and_no_connection_string_is_in_a_setting_or_an_output(way: str) -> None:
    settings = app_settings(way)
    telemetry = settings.pop("APPLICATIONINSIGHTS_CONNECTION_STRING")
    for text in texts([settings, outputs(way)]):
        assert not KEY.search(text), text
        assert "ConnectionString" not in text
    # an address, no key: the component takes no telemetry without a token
    assert telemetry.startswith("<Microsoft.Insights/components ")
    assert only(way, INSIGHTS).properties["DisableLocalAuth"] is True


@every_way
def test_the_password_is_in_the_vault_and_nowhere_else(way: str) -> None:
    seen = [(one.type, text) for one in deployed(way).resources() for text in texts(one.body) if CANARY in text]
    assert seen == [(SECRET, CANARY)]
    assert CANARY not in json.dumps(outputs(way))
    assert all(CANARY not in one.name for one in deployed(way).resources())


@every_way
def test_the_function_gets_the_password_as_a_reference_without_a_version(way: str) -> None:
    secret = only(way, SECRET)
    assert (
        app_settings(way)["NEO4J_PASSWORD"]
        == f"@Microsoft.KeyVault(SecretUri=<{SECRET} {secret.name}.properties.secretUri>)"
    )
    assert only(way, SITE).properties["keyVaultReferenceIdentity"] == _identity(way).id


def test_secure_parameters_have_no_default_and_are_secure_all_the_way() -> None:
    secure = {(path.name, d.name): d for path in FILES for d in BicepFile(path).of("param") if "secure" in d.decorators}
    assert set(secure) == {("main.bicep", "neo4jPassword"), ("keyvault.bicep", "neo4jPassword")}
    assert all(declaration.value is None for declaration in secure.values())


@every_way
def test_storage_has_no_shared_keys_and_no_public_blobs(way: str) -> None:
    properties = only(way, STORAGE).properties
    assert properties["allowSharedKeyAccess"] is False
    assert properties["allowBlobPublicAccess"] is False
    assert only(way, f"{STORAGE}/blobServices/containers").properties["publicAccess"] == "None"


@every_way
def test_redis_has_no_access_keys(way: str) -> None:
    for database in resources(way, DATABASE):
        assert database.properties["accessKeysAuthentication"] == "Disabled"
        assert database.properties["clientProtocol"] == "Encrypted"
        assert database.name == "default"


@every_way
def test_models_take_no_keys(way: str) -> None:
    for account in resources(way, OPENAI):
        assert account.properties["disableLocalAuth"] is True
        assert account.properties["customSubDomainName"] == account.name  # tokens need a domain of its own


@every_way
def test_the_vault_uses_roles_and_keeps_what_is_deleted(way: str) -> None:
    properties = only(way, VAULT).properties
    assert properties["enableRbacAuthorization"] is True
    assert properties["enableSoftDelete"] is True
    assert properties["enablePurgeProtection"] is True
    assert "accessPolicies" not in properties


def test_purge_protection_can_be_left_out_where_one_tries_things_out() -> None:
    scope = deploy(MAIN, {**REQUIRED, "keyVaultPurgeProtection": False})
    (vault,) = (one for one in scope.resources() if one.type == VAULT and not one.existing)
    assert vault.properties["enablePurgeProtection"] is None  # the service takes no false


# ------------------------------------------------------------------------------------------------ identity and roles
def _identity(way: str) -> Resource:
    return only(way, "Microsoft.ManagedIdentity/userAssignedIdentities")


@every_way
def test_there_is_one_identity_and_the_site_uses_no_other(way: str) -> None:
    identity = _identity(way)
    assert only(way, SITE).body["identity"] == {"type": "UserAssigned", "userAssignedIdentities": {identity.id: {}}}
    client = f"<{identity.type} {identity.name}.properties.clientId>"
    settings = app_settings(way)
    assert settings["AZURE_CLIENT_ID"] == settings["AzureWebJobsStorage__clientId"] == client
    assert settings["APPLICATIONINSIGHTS_AUTHENTICATION_STRING"] == f"ClientId={client};Authorization=AAD"
    storage = only(way, SITE).properties["functionAppConfig"]["deployment"]["storage"]
    assert storage["authentication"] == {
        "type": "UserAssignedIdentity",
        "userAssignedIdentityResourceId": identity.id,
    }


@every_way
def test_every_role_is_known_is_on_one_resource_and_has_a_name_of_its_own(way: str) -> None:
    names = []
    for role in resources(way, ROLE):
        guid = role.properties["roleDefinitionId"].rsplit("/", 1)[-1]
        assert guid in ROLES
        assert role.on is not None
        assert role.on.type != "Microsoft.Resources/resourceGroups"
        assert role.properties["principalType"] in {"ServicePrincipal", "User", "Group"}
        assert role.name == FUNCTIONS["guid"](role.on.id, role.properties["principalId"], guid)
        names.append(role.name)
    assert len(names) == len(set(names))


@every_way
def test_the_function_has_exactly_the_roles_it_needs(way: str) -> None:
    principal = f"<{_identity(way).type} {_identity(way).name}.properties.principalId>"
    mine = [role for role in resources(way, ROLE) if role.properties["principalId"] == principal]
    assert {(role.on.type, _role(role)) for role in mine if role.on} == FUNCTION_ROLES
    assert {role.properties["principalType"] for role in mine} == {"ServicePrincipal"}


def _role(role: Resource) -> str:
    return ROLES[role.properties["roleDefinitionId"].rsplit("/", 1)[-1]]


def test_a_developer_gets_roles_only_when_named_and_owns_nothing() -> None:
    assert len(resources("default", ROLE)) == len(FUNCTION_ROLES)
    developer = WAYS["developer"]["developerPrincipalId"]
    theirs = [role for role in resources("developer", ROLE) if role.properties["principalId"] == developer]
    assert {_role(role) for role in theirs} == {
        "Storage Blob Data Contributor",
        "Key Vault Secrets User",
        "Cognitive Services OpenAI User",
    }
    assert {role.properties["principalType"] for role in theirs} == {"User"}


@pytest.mark.parametrize("way", ["default", "private", "own models and cache"])
def test_redis_lets_the_function_in_by_its_object_id(way: str) -> None:
    access = only(way, f"{DATABASE}/accessPolicyAssignments")
    principal = f"<{_identity(way).type} {_identity(way).name}.properties.principalId>"
    assert access.properties == {"accessPolicyName": "default", "user": {"objectId": principal}}
    settings = app_settings(way)
    assert settings["REDIS_AUTH"] == "entra"
    assert settings["REDIS_URL"].startswith("rediss://")


# ------------------------------------------------------------------------------------------------ transport and entry
@every_way
def test_tls_is_new_and_passwords_for_publishing_are_off(way: str) -> None:
    site = only(way, SITE).properties
    assert site["httpsOnly"] is True
    assert site["siteConfig"]["ftpsState"] == "Disabled"
    assert site["siteConfig"]["minTlsVersion"] in {"1.2", "1.3"}
    assert site["siteConfig"]["scmMinTlsVersion"] in {"1.2", "1.3"}
    assert only(way, STORAGE).properties["minimumTlsVersion"] == "TLS1_2"
    assert all(one.properties["minimumTlsVersion"] == "1.2" for one in resources(way, REDIS))
    policies = resources(way, f"{SITE}/basicPublishingCredentialsPolicies")
    assert {one.name: one.properties["allow"] for one in policies} == {"ftp": False, "scm": False}


def test_browsers_may_call_only_from_origins_that_are_named() -> None:
    assert only("default", SITE).properties["siteConfig"]["cors"] is None
    scope = deploy(MAIN, {**REQUIRED, "corsOrigins": ["https://portal.example.com"]})
    (site,) = (one for one in scope.resources() if one.type == SITE)
    assert site.properties["siteConfig"]["cors"] == {
        "allowedOrigins": ["https://portal.example.com"],
        "supportCredentials": False,
    }
    with pytest.raises(RefusedError, match="corsOrigins must name each origin"):
        deploy(MAIN, {**REQUIRED, "corsOrigins": ["*"]})


@pytest.mark.parametrize("way", [way for way in WAYS if WAYS[way].get("vnetEnabled")])
def test_a_private_deployment_can_be_reached_through_endpoints_only(way: str) -> None:
    stores = [one for kind in (STORAGE, VAULT, REDIS, OPENAI) for one in resources(way, kind)]
    assert {one.properties["publicNetworkAccess"] for one in stores} == {"Disabled"}
    acls = [one.properties["networkAcls"]["defaultAction"] for one in stores if one.type != REDIS]
    assert set(acls) == {"Deny"}
    targets = {
        link["properties"]["privateLinkServiceId"]: link["properties"]["groupIds"]
        for endpoint in resources(way, ENDPOINT)
        for link in endpoint.properties["privateLinkServiceConnections"]
    }
    site = only(way, SITE)
    wanted = {STORAGE: "blob", VAULT: "vault", REDIS: "redisEnterprise", OPENAI: "account", SITE: "sites"}
    assert targets == {one.id: [wanted[one.type]] for one in [*stores, site]}
    assert site.properties["virtualNetworkSubnetId"]
    assert site.properties["siteConfig"]["ipSecurityRestrictionsDefaultAction"] == "Deny"


def test_a_private_deployment_has_names_for_its_endpoints() -> None:
    zones = {one.name for one in resources("private", ZONE)}
    assert zones == {
        "privatelink.blob.core.windows.net",
        "privatelink.vaultcore.azure.net",
        "privatelink.openai.azure.com",
        "privatelink.redis.azure.net",
        "privatelink.azurewebsites.net",
    }
    assert len(resources("private", f"{ZONE}/virtualNetworkLinks")) == len(zones)
    groups = resources("private", f"{ENDPOINT}/privateDnsZoneGroups")
    linked = {c["properties"]["privateDnsZoneId"] for one in groups for c in one.properties["privateDnsZoneConfigs"]}
    assert linked == {one.id for one in resources("private", ZONE)}
    assert resources("own network", ZONE) == []


def test_the_subnet_of_the_function_is_delegated_and_has_one_outgoing_address() -> None:
    network = only("private", "Microsoft.Network/virtualNetworks")
    subnets = {one["name"]: one["properties"] for one in network.properties["subnets"]}
    assert [d["properties"]["serviceName"] for d in subnets["app"]["delegations"]] == ["Microsoft.App/environments"]
    assert subnets["app"]["addressPrefix"] == "10.60.0.0/26"
    assert subnets["endpoints"]["addressPrefix"] == "10.60.0.64/27"
    assert subnets["app"]["natGateway"] == {"id": only("private", "Microsoft.Network/natGateways").id}
    assert all(one["networkSecurityGroup"]["id"] for one in subnets.values())
    assert outputs("private")["AZURE_OUTGOING_ADDRESS"].endswith("ipAddress>")
    assert only("private", SITE).properties["virtualNetworkSubnetId"] == f"{network.id}/subnets/app"
    assert resources("own network", "Microsoft.Network/virtualNetworks") == []
    assert only("own network", SITE).properties["virtualNetworkSubnetId"] == WAYS["own network"]["existingAppSubnetId"]


@pytest.mark.parametrize(("way", "seen"), [("default", "Enabled"), ("private", "Enabled"), ("all private", "Disabled")])
def test_the_function_is_as_open_as_was_asked_for(way: str, seen: str) -> None:
    site: dict[str, Any] = only(way, SITE).properties
    assert site["publicNetworkAccess"] == seen
    assert site["siteConfig"]["scmIpSecurityRestrictionsDefaultAction"] == ("Deny" if way == "all private" else "Allow")


# ------------------------------------------------------------------------------------------------ text of the files
DEPRECATED_ON_FLEX = {
    "FUNCTIONS_EXTENSION_VERSION",
    "FUNCTIONS_WORKER_RUNTIME",
    "FUNCTIONS_WORKER_RUNTIME_VERSION",
    "FUNCTIONS_MAX_HTTP_CONCURRENCY",
    "FUNCTIONS_WORKER_PROCESS_COUNT",
    "FUNCTIONS_WORKER_DYNAMIC_CONCURRENCY_ENABLED",
    "SCM_DO_BUILD_DURING_DEPLOYMENT",
    "ENABLE_ORYX_BUILD",
    "WEBSITE_CONTENTAZUREFILECONNECTIONSTRING",
    "WEBSITE_CONTENTSHARE",
    "WEBSITE_CONTENTOVERVNET",
    "WEBSITE_DNS_SERVER",
    "WEBSITE_MAX_DYNAMIC_APPLICATION_SCALE_OUT",
    "WEBSITE_NODE_DEFAULT_VERSION",
    "WEBSITE_RUN_FROM_PACKAGE",
    "WEBSITE_SKIP_CONTENTSHARE_VALIDATION",
    "WEBSITE_VNET_ROUTE_ALL",
    "WEBSITE_USE_PLACEHOLDER_DOTNETISOLATED",
    "WEBSITE_MOUNT_ENABLED",
}


def test_no_setting_that_flex_consumption_has_given_up_is_named_anywhere() -> None:
    source = "".join(path.read_text() for path in INFRA.rglob("*") if path.is_file())
    assert [name for name in sorted(DEPRECATED_ON_FLEX) if name in source] == []
    assert "AzureWebJobsStorage" not in app_settings()  # even an empty one breaks a deployment
