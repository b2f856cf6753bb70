"""Faults in who may ask: the platform and the application no longer agree, or keys are where they
do not belong.
"""

from __future__ import annotations

from tests.infra.faults.planted import ENDPOINTS, FILE, MAIN, MODULE, ROLES, SETTING
from tests.infra.faults.planting import COMPILER, Fault

AGREED = "the_application_believes_the_platform_where_it_asks_for_tokens"
SIGN_IN = "sign_in_is_by_entra_id_alone"
CHECKS = "each_check_lets_through_what_it_names_and_no_more"
STAYS = "a_secret_that_was_rotated_stays"
PLACE = "no_key_and_no_password_stands_anywhere"


def _main(what: str, right: str, wrong: str, rule: str) -> Fault:
    return Fault(what, MAIN, right, wrong, rule)


def _in(module: str, what: str, right: str, wrong: str, rule: str) -> Fault:
    return Fault(what, MODULE.format(module), right, wrong, rule)


AGREEMENT = (
    _in(
        "function",
        "the application believes, and the platform asks for nothing",
        "enabled: signIn",
        "enabled: false",
        AGREED,
    ),
    _in(
        "function",
        "the platform asks for tokens, and the application does not know",
        "enabled: signIn",
        "enabled: true",
        AGREED,
    ),
    _in(
        "function",
        "the application always believes",
        "AUTH_MODE: authMode",
        "AUTH_MODE: 'easyauth'",
        AGREED,
    ),
    _in(
        "function",
        "the application never believes",
        "AUTH_MODE: authMode",
        "AUTH_MODE: signIn ? 'keys' : authMode",
        AGREED,
    ),
    _in(
        "function",
        "the platform's word is a setting",
        "  AUTH_MODE: authMode\n",
        "  AUTH_MODE: authMode\n  WEBSITE_AUTH_ENABLED: 'true'\n",
        AGREED,
    ),
    _in("function", "the mode is lost", "  AUTH_MODE: authMode\n", "", AGREED),
    _in(
        "function",
        "a setting of main takes its place",
        "union(settings, platformSettings, accessSettings)",
        "union(accessSettings, settings, platformSettings, { AUTH_MODE: 'easyauth' })",
        AGREED,
    ),
    _in(
        "function",
        "only some sites ask for tokens",
        "module easyAuth 'easyauth.bicep' = {",
        "module easyAuth 'easyauth.bicep' = if (access == 'public') {",
        AGREED,
    ),
    _in(
        "function",
        "the application expects another tenant",
        "AUTH_TENANT_ID: signIn ? tenantId : ''",
        "AUTH_TENANT_ID: signIn ? tenant().tenantId : ''",
        AGREED,
    ),
    _in(
        "easyauth",
        "nobody has to sign in",
        "requireAuthentication: true",
        "requireAuthentication: false",
        AGREED,
    ),
    _in("easyauth", "strangers are let through", "'Return401'", "'AllowAnonymous'", AGREED),
    _in("easyauth", "every path is open", "'/health/live'", "'/'", AGREED),
    _in(
        "easyauth",
        "tokens of every tenant",
        "${tenantId}/v2.0",
        "${take(tenantId, 0)}common/v2.0",
        AGREED,
    ),
    _in(
        "easyauth",
        "tokens for another application",
        "      'api://${clientId}'\n",
        "      'api://${clientId}'\n      'https://graph.microsoft.com'\n",
        AGREED,
    ),
    _in(
        "easyauth",
        "strangers of another provider",
        "enabled ? entra : { enabled: false }\n",
        "enabled ? entra : { enabled: false }\n      google: { enabled: true }\n",
        AGREED,
    ),
    _in(
        "easyauth", "the settings have another name", "'authsettingsV2'", "'authsettings'", COMPILER
    ),
)

TOKENS = (
    _in(
        "easyauth",
        "tokens are stored",
        "tokenStore: {\n        enabled: false",
        "tokenStore: {\n        enabled: true",
        SIGN_IN,
    ),
    _in("easyauth", "plain HTTP", "requireHttps: true", "requireHttps: false", SIGN_IN),
    _in(
        "easyauth",
        "who switches it on by hand lets everybody in",
        "requireAuthentication: true",
        "requireAuthentication: enabled",
        SIGN_IN,
    ),
)

KEYS = (
    _main(
        "keys in plain text",
        "authMode == 'keys' ? (projectKeysAccess.?outputs.referenceUri ?? '') : ''",
        "authMode == 'keys' ? (projectKeys ?? '') : ''",
        PLACE,
    ),
    _main(
        "the address of the password",
        "(projectKeysAccess.?outputs.referenceUri ?? '')",
        "secretAccess.outputs.referenceUri",
        SETTING,
    ),
    _in(
        "keyvault",
        "rotated keys are overwritten",
        "@onlyIfNotExists()\nresource projectKeysSecret",
        "resource projectKeysSecret",
        STAYS,
    ),
    _in(
        "keyvault",
        "replacing the password replaces the keys",
        "(withProjectKeys && replaceProjectKeys)",
        "(withProjectKeys && replacePassword)",
        STAYS,
    ),
    _main(
        "developers read the keys",
        "    keyVaultName: keysSecretParts[8]\n",
        "    developerPrincipalId: developerPrincipalId\n    keyVaultName: keysSecretParts[8]\n",
        ROLES,
    ),
    _main(
        "nobody may rotate the keys",
        "keysSecretParts[8]\n    officerPrincipalId: vaultOfficerPrincipalId\n",
        "keysSecretParts[8]\n",
        ROLES,
    ),
    _main(
        "the role is on the password",
        "secretName: keysSecretParts[10]",
        "secretName: secretParts[10]",
        ROLES,
    ),
    _main(
        "no endpoint to the keys",
        "toLower(keysVaultId) != toLower(vaultId)",
        "keysVaultId == vaultId",
        ENDPOINTS,
    ),
    _main(
        "a second endpoint to one vault",
        " && toLower(keysVaultId) != toLower(vaultId)",
        " && keysVaultId != vaultId",
        ENDPOINTS,
    ),
    _in(
        "endpoints",
        "one zone is made twice",
        "union(allZones, allZones)",
        "concat(allZones, [])",
        "a_zone_of_two_endpoints_is_made_once",
    ),
    _main(
        "keys in a file",
        "param projectKeys string?",
        "param projectKeys string = '[]'",
        COMPILER,
    ),
    Fault(
        "keys have a default",
        "infra/main.bicepparam",
        "readEnvironmentVariable('PROJECT_KEYS', '')",
        "readEnvironmentVariable('PROJECT_KEYS', '[]')",
        FILE,
    ),
)

REFUSED = (
    _main(
        "a mode without its keys",
        "authMode == 'keys' && !keysGiven",
        "authMode == 'keys' && !keysGiven && vnetEnabled",
        CHECKS,
    ),
    _main(
        "keys that nobody is asked for",
        "authMode != 'keys' && keysGiven",
        "authMode == 'easyauth' && keysGiven",
        CHECKS,
    ),
    _main(
        "a registration that nobody is asked for",
        "authMode != 'easyauth' && entraGiven",
        "authMode == 'keys' && entraGiven",
        CHECKS,
    ),
    _main(
        "a mode without its registration",
        "authMode == 'easyauth' && length(entraClientId) != 36",
        "authMode == 'easyauth' && length(entraClientId) > 36",
        CHECKS,
    ),
)

FAULTS = (*AGREEMENT, *TOKENS, *KEYS, *REFUSED)
