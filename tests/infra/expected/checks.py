"""What the template computes to refuse wrong parameters, as the compiled template has to say it.

No snapshot shows these: each way of a snapshot is right, so a check that lets more through changes
none of them.
"""

from __future__ import annotations

from typing import Any

from tests.infra.expected.function import REFUSED


def _said_unless(condition: str, sentence: str) -> str:
    return f"[if({condition}, '', '{sentence}')]"


def _said_if(condition: str, sentence: str) -> str:
    return f"[if({condition}, '{sentence}', '')]"


def _is_id(parameter: str, parts: int, *holds: str) -> str:
    """Return the test of a resource id.

    How many parts it has, and what it has to hold, whatever its case.
    """
    test = f"equals(length(split(parameters('{parameter}'), '/')), {parts})"
    for text in holds:
        test = f"and({test}, contains(toLower(parameters('{parameter}')), '{text}'))"
    return f"[{test}]"


def _existing(mode: str) -> str:
    return f"equals(parameters('{mode}'), 'existing')"


def _given(parameter: str) -> str:
    return f"not(empty(parameters('{parameter}')))"


def _mode(name: str) -> str:
    return f"equals(parameters('authMode'), '{name}')"


_KEYS = "not(equals(parameters('projectKeys'), null()))"
_VIRTUAL_NETWORK = "/providers/microsoft.network/virtualnetworks/"

CHECKS: dict[str, Any] = {
    "problems": "[filter(variables('findings'), lambda('finding', "
    "not(empty(lambdaVariables('finding')))))]",
    "nameLetters": "abcdefghijklmnopqrstuvwxyz0123456789-",
    "strangeLetters": (
        "[filter(range(0, length(parameters('environmentName'))), lambda('i', "
        "not(contains(variables('nameLetters'),"
        " toLower(substring(parameters('environmentName'), lambdaVariables('i'), 1))))))]"
    ),
    "nameIsPlain": "[empty(variables('strangeLetters'))]",
    "encrypted": (
        "[or(startsWith(parameters('neo4jUri'), 'neo4j+s://'), startsWith(parameters('neo4jUri'), "
        "'bolt+s://'))]"
    ),
    "openAiIsAccount": _is_id(
        "openAiExistingId", 9, "/providers/microsoft.cognitiveservices/accounts/"
    ),
    "redisIsCluster": _is_id("redisExistingId", 9, "/providers/microsoft.cache/redisenterprise/"),
    "secretIsSecret": _is_id(
        "neo4jCredentialId", 11, "/providers/microsoft.keyvault/vaults/", "/secrets/"
    ),
    "keysSecretIsSecret": _is_id(
        "projectKeysCredentialId", 11, "/providers/microsoft.keyvault/vaults/", "/secrets/"
    ),
    "keysGiven": f"[or({_KEYS}, {_given('projectKeysCredentialId')})]",
    "entraGiven": (
        f"[or(or({_given('entraClientId')}, {_given('authTenantId')}), {_given('projectClaim')})]"
    ),
    "appSubnetIsSubnet": _is_id("existingAppSubnetId", 11, _VIRTUAL_NETWORK),
    "endpointSubnetIsSubnet": _is_id("existingEndpointSubnetId", 11, _VIRTUAL_NETWORK),
    "refusedSettings": sorted(REFUSED),
    "misplacedSettings": (
        "[filter(objectKeys(parameters('appSettings')), lambda('name', "
        "contains(variables('refusedSettings'), toUpper(lambdaVariables('name')))))]"
    ),
    "provisioned": "[endsWith(parameters('chatSkuName'), 'ProvisionedManaged')]",
    "addressParts": "[split(parameters('vnetAddressPrefix'), '/')]",
    "addressLengths": ("[map(range(8, 18), lambda('length', string(lambdaVariables('length'))))]"),
    "addressIsRange": (
        "[and(equals(length(variables('addressParts')), 2), "
        "contains(variables('addressLengths'), last(variables('addressParts'))))]"
    ),
    "reachable": (
        "[or(or(parameters('vnetEnabled'), equals(parameters('functionAccess'), 'public')),"
        " equals(parameters('functionAccess'), 'auto'))]"
    ),
    "findings": [
        _said_unless(
            "variables('nameIsPlain')", "environmentName may hold letters, digits and dashes only."
        ),
        _said_unless("variables('encrypted')", "neo4jUri must begin with neo4j+s:// or bolt+s://."),
        _said_if(
            "contains(parameters('neo4jUri'), '@')",
            "neo4jUri must hold no user and no password: give neo4jUsername and neo4jPassword.",
        ),
        _said_if(
            "contains(parameters('corsOrigins'), '*')",
            "corsOrigins must name each origin: the origin * would let every page on the internet "
            "call with its visitors.",
        ),
        _said_if(
            f"and({_existing('openAiMode')}, not(variables('openAiIsAccount')))",
            "openAiExistingId must be the resource id of a Microsoft.CognitiveServices/accounts.",
        ),
        _said_if(
            f"and({_existing('redisMode')}, not(variables('redisIsCluster')))",
            "redisExistingId must be the resource id of a Microsoft.Cache/redisEnterprise (Azure "
            "Managed Redis).",
        ),
        _said_unless(
            "or(empty(parameters('neo4jCredentialId')), variables('secretIsSecret'))",
            "neo4jCredentialId must be the resource id of a secret, "
            ".../Microsoft.KeyVault/vaults/NAME/secrets/NAME.",
        ),
        _said_unless(
            "equals(empty(parameters('existingAppSubnetId')), "
            "empty(parameters('existingEndpointSubnetId')))",
            "existingAppSubnetId and existingEndpointSubnetId must be given together.",
        ),
        _said_if(
            f"and({_given('existingAppSubnetId')}, not(variables('appSubnetIsSubnet')))",
            "existingAppSubnetId must be the resource id of a subnet.",
        ),
        _said_if(
            f"and({_given('existingEndpointSubnetId')}, not(variables('endpointSubnetIsSubnet')))",
            "existingEndpointSubnetId must be the resource id of a subnet.",
        ),
        _said_if(
            f"and({_mode('keys')}, not(variables('keysGiven')))",
            "authMode keys needs projectKeys, or projectKeysCredentialId of a secret that holds "
            "them.",
        ),
        _said_if(
            f"and(not({_mode('keys')}), variables('keysGiven'))",
            "projectKeys and projectKeysCredentialId are for authMode keys: no other mode asks "
            "callers for them.",
        ),
        _said_if(
            f"and({_KEYS}, {_given('projectKeysCredentialId')})",
            "projectKeys and projectKeysCredentialId must not be given together.",
        ),
        _said_if(
            f"and(and({_mode('keys')}, {_given('neo4jCredentialId')}), "
            "empty(parameters('projectKeysCredentialId')))",
            "projectKeysCredentialId must be given with neo4jCredentialId: no vault is created for "
            "projectKeys.",
        ),
        _said_unless(
            "or(empty(parameters('projectKeysCredentialId')), variables('keysSecretIsSecret'))",
            "projectKeysCredentialId must be the resource id of a secret, "
            ".../Microsoft.KeyVault/vaults/NAME/secrets/NAME.",
        ),
        _said_if(
            f"and({_mode('easyauth')}, not(equals(length(parameters('entraClientId')), 36)))",
            "authMode easyauth needs entraClientId, the client id of an app registration.",
        ),
        _said_if(
            f"and(not({_mode('easyauth')}), variables('entraGiven'))",
            "entraClientId, authTenantId and projectClaim are for authMode easyauth: no other mode "
            "asks callers to sign in.",
        ),
        _said_unless(
            "or(empty(parameters('authTenantId')), equals(length(parameters('authTenantId')), 36))",
            "authTenantId must be the id of a tenant.",
        ),
        _said_if(
            "and(and(equals(parameters('openAiMode'), 'create'), variables('provisioned')), "
            "equals(parameters('chatCapacity'), 520))",
            "chatCapacity must be given with a provisioned chatSkuName: the default of 520 would "
            "be as many units, paid by the hour.",
        ),
        _said_unless(
            "variables('addressIsRange')",
            "vnetAddressPrefix must be a range of addresses from /8 to /25, such as 10.60.0.0/24.",
        ),
        (
            "[if(empty(variables('misplacedSettings')), '', format('appSettings must not hold {0}: "
            "a parameter gives it, or it is a secret.', "
            "join(variables('misplacedSettings'), ', ')))]"
        ),
        _said_unless(
            "variables('reachable')",
            "functionAccess must be public without vnetEnabled: nobody could call the function.",
        ),
    ],
}
"""The variable that goes to the module of the checks, and every variable that it is computed from.
"""
