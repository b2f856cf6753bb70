"""Rules over the compiled template: what a snapshot leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tests.infra.differences import differences
from tests.infra.ways import Body, Project, Rule

WAITS = {
    "main.bicep": {
        # what is wrong is refused before anything is made
        "group": {"checks"},
        # roles before the site, since the host reads container and secret when it starts
        "functionApp": {
            "endpoints",
            "monitoring",
            "network",
            "openAiAccess",
            "rbac",
            "redisAccess",
            "secretAccess",
            "storage",
        },
        "functionEndpoint": {"functionApp"},
    },
    # the service answers 409 to two of these at a time
    "module functionApp": {"noScmPassword": {"noFtpPassword"}, "easyAuth": {"noScmPassword"}},
    "module network": {"subnets endpoints": {"subnets app"}},
    "module monitorScope": {"scopedResources component": {"scopedResources workspace"}},
    "module storage": {"lifecycle": {"blobs"}},
    "module endpoints": {"privateDnsZoneGroups": {"privateEndpoints", "zone"}},
}
"""What has to be there before a part, where nothing that the part reads says so."""


def everything_waits_for_what_it_needs(project: Project) -> Iterator[str]:
    """The order of creation, in main.bicep and inside each module; the group is before all."""
    templates = dict(_templates(project))
    for file, wanted in WAITS.items():
        made = _labelled(templates[file]["resources"])
        found = {name: set(map(_label, one.get("dependsOn", ()))) for name, one in made.items()}
        for name, waits in wanted.items():
            missing = sorted(waits - found[name])
            yield from (f"{file}: {name} does not wait for {one}" for one in missing)
    for name, one in _labelled(_template(project)["resources"]).items():
        if _in_group(one) and "group" not in one["dependsOn"]:
            yield f"main.bicep: {name} does not wait for the group"


def an_output_holds_no_secret(project: Project) -> Iterator[str]:
    """What a module hands on is kept in the deployment's history, for everybody who reads it.

    No key, no connection string and no secure parameter is part of an output.
    """
    for file, template in _templates(project):
        secure = [
            f"parameters('{name}')"
            for name, one in template.get("parameters", {}).items()
            if one.get("type", "").startswith("secure")
        ]
        for name, one in template.get("outputs", {}).items():
            value = str(one.get("value", one.get("copy")))
            held = [word for word in secure if word in value]
            if held or _SECRET.search(value) or one["type"].startswith("secure"):
                yield f"{file}: output {name} holds a secret: {value}"


_SECRET = re.compile(
    r"connectionString|instrumentationKey|accountKey|(primary|secondary|shared)Key|password"
    r"|\blist\w*\(|getSecret",
    re.IGNORECASE,
)


def a_secret_that_was_rotated_stays(project: Project) -> Iterator[str]:
    """Password and keys are written where there are none, or where replacing was asked for, else
    never.
    """
    module = _template(project)["resources"]["keyVault"]["properties"]["template"]
    secrets = {
        name: one
        for name, one in _labelled(module["resources"]).items()
        if one["type"].endswith("/secrets")
    }
    found = {
        name: [one.get("condition"), "onlyIfNotExists" in one.get("@options", {})]
        for name, one in secrets.items()
    }
    replacing = "parameters('replacePassword')"
    replacing_keys, with_keys = "parameters('replaceProjectKeys')", "parameters('withProjectKeys')"
    wanted = {
        "graphSecret": [f"[not({replacing})]", True],
        "replacedGraphSecret": [f"[{replacing}]", False],
        "projectKeysSecret": [f"[and({with_keys}, not({replacing_keys}))]", True],
        "replacedProjectKeysSecret": [f"[and({with_keys}, {replacing_keys})]", False],
    }
    yield from differences(wanted, found, "module keyVault: secret ")


def models_are_deployed_one_after_the_other(project: Project) -> Iterator[str]:
    """The service refuses two deployments at a time."""
    made = _labelled(
        _template(project)["resources"]["openAi"]["properties"]["template"]["resources"]
    )
    found = {key: made["deployments"].get("copy", {}).get(key) for key in ("mode", "batchSize")}
    yield from differences({"mode": "serial", "batchSize": 1}, found, "module openAi: models: copy")


def a_subscription_can_hold_many_deployments(project: Project) -> Iterator[str]:
    """What is deployed outside the group has the token in its name.

    Those names belong to one region each; no name twice.
    """
    names = [one["name"] for one in _template(project)["resources"].values()]
    yield from (
        f"main.bicep: {name} is the name of two"
        for name in sorted({n for n in names if names.count(n) > 1})
    )
    for name, one in _template(project)["resources"].items():
        outside = one["type"] == "Microsoft.Resources/deployments" and not _in_group(one)
        if outside and "variables('token')" not in one["name"]:
            yield (
                f"main.bicep: module {name}: the name of its deployment is the same everywhere: "
                f"{one['name']}"
            )


def names_are_the_same_next_time(project: Project) -> Iterator[str]:
    """No time, no chance; the token is made of subscription, environment and region."""
    token = _template(project)["variables"]["token"]
    wanted = (
        "[uniqueString(subscription().id, parameters('environmentName'), parameters('location'))]"
    )
    yield from differences(wanted, token, "main.bicep: token")
    for file, template in _templates(project):
        yield from (
            f"{file}: {word}() gives another value each time" for word in _changing(template)
        )


def problems_are_refused_before_anything_is_made(project: Project) -> Iterator[str]:
    """The computed sentences go to a parameter that takes nothing but none."""
    checks = _template(project)["resources"]["checks"]["properties"]
    parameter = checks["template"]["parameters"]["problems"]
    yield from differences(["none"], parameter.get("allowedValues"), "module checks: problems")
    given = checks["parameters"]["problems"]
    if "variables('problems')" not in str(given):
        yield f"main.bicep: checks: problems is {given}"


def the_outgoing_address_is_told_where_there_is_one(project: Project) -> Iterator[str]:
    """The address for the allow list of the graph, which no preview knows.

    That of the NAT gateway of a created network.
    """
    outputs = {file: template.get("outputs", {}) for file, template in _templates(project)}
    told = str(outputs["main.bicep"]["AZURE_OUTGOING_ADDRESS"]["value"])
    if "reference('network')" not in told or "'outgoingAddress'" not in told:
        yield f"main.bicep: AZURE_OUTGOING_ADDRESS is {told}"
    read = str(outputs["module network"]["outgoingAddress"]["value"])
    if "publicIPAddresses" not in read or "'ipAddress'" not in read:
        yield f"network.bicep: outgoingAddress is {read}"


def a_zone_of_two_endpoints_is_made_once(project: Project) -> Iterator[str]:
    """Two vaults share a DNS zone.

    A preview takes two of one name for one, and a deployment refuses them.
    """
    variables = _template(project)["resources"]["endpoints"]["properties"]["template"]["variables"]
    wanted = "[union(variables('allZones'), variables('allZones'))]"
    yield from differences(wanted, variables.get("zoneNames"), "module endpoints: zoneNames")


def _template(project: Project) -> Body:
    if project.template is None:
        raise ValueError("these rules read the compiled template: ask a compiler for it first")
    return project.template


def _templates(project: Project) -> Iterator[tuple[str, Body]]:
    yield "main.bicep", _template(project)
    yield from _modules(_template(project))


def _modules(template: Body) -> Iterator[tuple[str, Body]]:
    """Yield the templates of modules and of the modules inside them."""
    for name, one in _labelled(template["resources"]).items():
        if one["type"] == "Microsoft.Resources/deployments":
            yield f"module {name}", one["properties"]["template"]
            yield from _modules(one["properties"]["template"])


def _labelled(resources: Mapping[str, Body] | list[Body]) -> dict[str, Body]:
    """Return the resources of a module by their symbol, or by type and name where the compiler
    keeps no symbols.
    """
    if isinstance(resources, Mapping):
        return {name: one for name, one in resources.items() if not one.get("existing")}
    return {_label(f"[resourceId('{one['type']}', {one['name']})]"): one for one in resources}


def _label(reference: str) -> str:
    """Return a short name for `[resourceId('Microsoft.Web/sites', ...)]`.

    The last part of the type, and a name of its own.
    """
    kind = re.match(r"\[resourceId\('[\w./]+/(\w+)'", reference)
    if kind is None:
        return reference
    literal = re.sub(r"(parameters|variables)\('\w+'\)", "", reference)
    own = [
        word for word in re.findall(r"'(?:\{0\}-)?([a-z][a-z0-9-]*)'", literal) if word != "default"
    ]
    return " ".join([kind[1], *own[-1:]])


def _in_group(module: Body) -> bool:
    return str(module.get("resourceGroup", "")) == "[variables('names').resourceGroup]"


def _changing(template: Body) -> list[str]:
    return sorted(set(re.findall(r"\b(utcNow|newGuid)\(", str(template))))


RULES: tuple[Rule, ...] = (
    everything_waits_for_what_it_needs,
    an_output_holds_no_secret,
    a_secret_that_was_rotated_stays,
    models_are_deployed_one_after_the_other,
    a_subscription_can_hold_many_deployments,
    names_are_the_same_next_time,
    problems_are_refused_before_anything_is_made,
    the_outgoing_address_is_told_where_there_is_one,
    a_zone_of_two_endpoints_is_made_once,
)
