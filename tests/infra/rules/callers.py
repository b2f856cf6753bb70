"""The rule that who may ask is decided once, for the platform and for the application."""

from __future__ import annotations

from collections.abc import Iterator

from tests.infra.kinds import SIGN_IN, SITE
from tests.infra.rules.snapshot import settings_of
from tests.infra.ways import Body, Project, Rule, Way

OPEN_PATHS = ["/health/live", "/rag", "/.well-known/oauth-protected-resource"]
"""What answers everybody: it holds no data."""


def the_application_believes_the_platform_where_it_asks_for_tokens(
    project: Project,
) -> Iterator[str]:
    """AUTH_MODE is easyauth where the platform lets nobody in without a token of that tenant for
    the registration, and there only. What the platform says of that is said by nobody else. The
    rule reads what is deployed, and no parameter.
    """
    for way in project.ways:
        for site in way.resources(SITE):
            yield from (f"{way.name}: {said}" for said in _undecided(way, site))


def _undecided(way: Way, site: Body) -> Iterator[str]:
    mode = settings_of(way).get("AUTH_MODE")
    if "WEBSITE_AUTH_ENABLED" in settings_of(way):
        yield "WEBSITE_AUTH_ENABLED is set, which is the platform's to say"
    configs = [
        one["properties"]
        for one in way.resources(SIGN_IN)
        if one["id"] == f"{site['id']}/config/authsettingsV2"
    ]
    if mode not in {"function", "keys", "easyauth"} or len(configs) != 1:
        said = f"and the platform's authentication is said {len(configs)} times"
        yield f"AUTH_MODE is {mode!r}, {said}"
    elif mode == "easyauth":
        yield from _gaps(configs[0], settings_of(way).get("AUTH_TENANT_ID", ""))
    elif configs[0]["platform"]["enabled"] is not False:
        yield f"the platform asks for tokens, and AUTH_MODE is {mode!r}"


def _gaps(config: Body, tenant: str) -> Iterator[str]:
    """Yield how somebody without a token could reach an application that believes the platform."""
    login = "[format('{0}{1}/v2.0', environment().authentication.loginEndpoint, '%s')]"
    asked, providers = config["globalValidation"], config["identityProviders"]
    entra = providers.get("azureActiveDirectory", {})
    client = entra.get("registration", {}).get("clientId", "")
    audiences = entra.get("validation", {}).get("allowedAudiences", [])
    closed = {
        "it is off": config["platform"]["enabled"] is True,
        "it asks for nothing": asked["requireAuthentication"] is True,
        "it lets strangers through": asked["unauthenticatedClientAction"] == "Return401",
        "it opens more paths": set(asked.get("excludedPaths", ())) <= set(OPEN_PATHS),
        "Entra ID is off": entra.get("enabled") is True,
        "others may vouch for callers": set(providers) == {"azureActiveDirectory"},
        "no registration is named": bool(client),
        "tokens for others are taken": bool(audiences) and all(client in one for one in audiences),
        "tokens of other tenants are taken": bool(tenant)
        and entra.get("registration", {}).get("openIdIssuer") == login % tenant,
    }
    yield from (
        f"AUTH_MODE is easyauth, and of the platform's authentication: {gap}"
        for gap, shut in closed.items()
        if not shut
    )


RULES: tuple[Rule, ...] = (the_application_believes_the_platform_where_it_asks_for_tokens,)
