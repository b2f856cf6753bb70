"""Rules over the compiled template: what a snapshot leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.infra.differences import differences
from tests.infra.expected.checks import CHECKS
from tests.infra.parameters import PARAMETERS, REQUIRED
from tests.infra.rules import Rule
from tests.infra.ways import Body, Project

ORDER: dict[str, set[str]] = {
    "checks": set(),
    "group": {"checks"},
    "identity": {"group"},
    "monitoring": {"group"},
    "network": {"group"},
    "storage": {"group", "monitoring"},
    "keyVault": {"group", "monitoring"},
    "redis": {"group", "monitoring"},
    "openAi": {"group", "monitoring"},
    "endpoints": {"group", "keyVault", "monitoring", "network", "openAi", "redis", "storage"},
    "rbac": {"group", "identity", "monitoring", "storage"},
    "secretAccess": {"identity", "keyVault"},
    "projectKeysAccess": {"identity", "keyVault"},
    "openAiAccess": {"identity", "openAi"},
    "redisAccess": {"identity", "redis"},
    "functionApp": {
        "endpoints",
        "group",
        "identity",
        "monitoring",
        "network",
        "openAiAccess",
        "projectKeysAccess",
        "rbac",
        "redisAccess",
        "secretAccess",
        "storage",
    },
    "functionEndpoint": {"functionApp", "group", "network"},
}
"""What has to be there before each part: roles before the site, since the host reads container and
secret when it starts."""

INNER_ORDER: dict[str, dict[str, set[str]]] = {
    "functionApp": {
        "serverfarms": set(),
        "sites": {"serverfarms"},
        "basicPublishingCredentialsPolicies ftp": {"sites"},
        # the service answers 409 to two of these at a time
        "basicPublishingCredentialsPolicies scm": {
            "basicPublishingCredentialsPolicies ftp",
            "sites",
        },
        "diagnosticSettings": {"sites"},
        # one change of the site after the other
        "deployments": {"basicPublishingCredentialsPolicies scm", "sites"},
    },
    "storage": {
        "storageAccounts": set(),
        "blobServices": {"storageAccounts"},
        "containers": {"blobServices"},
        "managementPolicies": {"blobServices", "storageAccounts"},
        "diagnosticSettings": {"blobServices"},
    },
    "keyVault": {
        "vault": set(),
        "graphSecret": {"vault"},
        "replacedGraphSecret": {"vault"},
        "projectKeysSecret": {"vault"},
        "replacedProjectKeysSecret": {"vault"},
        "audit": {"vault"},
    },
    "redis": {
        "redisEnterprise": set(),
        "databases": {"redisEnterprise"},
        "diagnosticSettings": {"databases"},
    },
    "openAi": {"accounts": set(), "deployments": {"accounts"}, "diagnosticSettings": {"accounts"}},
    "monitoring": {
        "workspaces": set(),
        "components": {"workspaces"},
        "actionGroups": set(),
        "scheduledQueryRules": {"actionGroups", "components", "workspaces"},
        "tables": {"workspaces"},
        "privateLinkScopes": set(),
        "scopedResources workspace": {"privateLinkScopes", "workspaces"},
        # one change of the scope after the other
        "scopedResources component": {
            "components",
            "privateLinkScopes",
            "scopedResources workspace",
        },
    },
    "network": {
        "networkSecurityGroups app": set(),
        "networkSecurityGroups endpoints": set(),
        "publicIPAddresses": set(),
        "natGateways": {"publicIPAddresses"},
        "virtualNetworks": set(),
        "subnets app": {"natGateways", "networkSecurityGroups app", "virtualNetworks"},
        # the service answers 409 to two changes of one network at a time
        "subnets endpoints": {
            "networkSecurityGroups endpoints",
            "subnets app",
            "virtualNetworks",
        },
    },
    "endpoints": {
        "privateEndpoints": set(),
        "privateDnsZones": set(),
        "virtualNetworkLinks": {"privateDnsZones"},
        "privateDnsZoneGroups": {"privateEndpoints", "zone"},
    },
}
"""The same inside the modules that make more than one thing; the modules that give access make
assignments only."""


def everything_waits_for_what_it_needs(project: Project) -> Iterator[str]:
    """The order of creation, in main.bicep and inside each module."""
    resources = _template(project)["resources"]
    yield from differences(_as_lists(ORDER), _as_lists(_waits(resources)), "main.bicep: dependsOn")
    for module, wanted in INNER_ORDER.items():
        found = _waits(_labelled(resources[module]["properties"]["template"]["resources"]))
        yield from differences(_as_lists(wanted), _as_lists(found), f"module {module}: dependsOn")


def parameters_are_bounded_as_the_docs_say(project: Project) -> Iterator[str]:
    """Type, default, bounds and choices of every parameter.

    Password and keys are secure and have no default.
    """
    found = {
        name: _without_description(one) for name, one in _template(project)["parameters"].items()
    }
    yield from differences(PARAMETERS, found, "main.bicep: parameter ")
    needed = {
        name for name, one in found.items() if "defaultValue" not in one and not one.get("nullable")
    }
    yield from (
        f"main.bicep: parameter {name} has to be given, or no longer"
        for name in sorted(needed ^ REQUIRED)
    )


def parameters_and_outputs_are_described(project: Project) -> Iterator[str]:
    """A description of every parameter and output, in main.bicep and in each module."""
    for file, template in _templates(project):
        for kind in ("parameters", "outputs"):
            for name, one in template.get(kind, {}).items():
                if len(one.get("metadata", {}).get("description", "")) < MIN_DESCRIPTION:
                    yield f"{file}: {kind} {name} is not described"


MIN_DESCRIPTION = 6


def an_output_holds_no_secret(project: Project) -> Iterator[str]:
    """What a module hands on is kept in the deployment's history, for everybody who reads it.

    No key, no connection string and no secure parameter is part of an output.
    """
    for file, template in _templates(project):
        secure = [
            f"parameters('{name}')"
            for name, one in template.get("parameters", {}).items()
            if one["type"].startswith("secure")
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


def modules_take_what_main_allows(project: Project) -> Iterator[str]:
    """A parameter that a module gets from one of the same name has the same bounds there, and a
    secret stays secure.
    """
    main = _template(project)
    for name, module in main["resources"].items():
        for inner, outer in _passed(module):
            mine = module["properties"]["template"]["parameters"][inner]
            theirs = main["parameters"][outer]
            for rule in ("minValue", "maxValue", "allowedValues"):
                if rule in mine and mine[rule] != theirs.get(rule):
                    bound = f"{rule} is {mine[rule]}, and {theirs.get(rule)} in main.bicep"
                    yield f"module {name}: parameter {inner}: {bound}"
            if theirs["type"].startswith("secure") and not mine["type"].startswith("secure"):
                yield f"module {name}: parameter {inner} is not secure"


def a_module_gets_a_parameter_as_it_is(project: Project) -> Iterator[str]:
    """What main.bicep passes on depends on one parameter alone.

    No snapshot shows what only two of them together change.
    """
    for name, module in _template(project)["resources"].items():
        for inner, given in module.get("properties", {}).get("parameters", {}).items():
            value = str(given.get("value") if isinstance(given, dict) else given)
            plain = re.fullmatch(r"\[parameters\('\w+'\)\]", value) or value == PUBLIC
            if "parameters('" in value and not plain and (name, inner) not in COMPUTED:
                yield f"main.bicep: module {name}: parameter {inner} is computed: {value}"


PUBLIC = "[not(parameters('vnetEnabled'))]"
COMPUTED = {
    ("endpoints", "endpoints"),
    ("endpoints", "subnetId"),
    ("functionApp", "settings"),
    ("functionApp", "subnetId"),
    ("functionEndpoint", "subnetId"),
    ("openAi", "deployments"),
}
"""These are compared, value by value, in the snapshots."""


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
    """The computed sentence goes to a parameter that takes nothing but none, and everything waits
    for that.
    """
    checks = _template(project)["resources"]["checks"]
    parameter = checks["properties"]["template"]["parameters"]["problems"]
    yield from differences(["none"], parameter.get("allowedValues"), "module checks: problems")
    value = (
        "[if(empty(variables('problems')), createObject('value', 'none'), "
        "createObject('value', join(variables('problems'), ' ')))]"
    )
    yield from differences(
        value, checks["properties"]["parameters"]["problems"], "main.bicep: checks: problems"
    )


def each_check_lets_through_what_it_names_and_no_more(project: Project) -> Iterator[str]:
    """Each condition on parameters that no decorator can say, with the sentence for who breaks it.

    None missing, none more.
    """
    variables = _template(project)["variables"]
    read = {"problems", *_read_by("problems", variables)}
    yield from (
        f"main.bicep: variable {name} is part of the checks, or no longer"
        for name in sorted(read ^ set(CHECKS))
    )
    yield from differences(
        CHECKS, {name: variables.get(name) for name in CHECKS}, "main.bicep: variable "
    )


def _read_by(name: str, variables: Mapping[str, Any]) -> set[str]:
    """Return the variables that a variable is computed from, and those that these are."""
    named = set(re.findall(r"variables\('([^']+)'\)", str(variables.get(name))))
    return named.union(*(_read_by(one, variables) for one in named))


def the_outgoing_address_is_told_where_there_is_one(project: Project) -> Iterator[str]:
    """The address for the allow list of the graph, which no preview knows.

    That of the NAT gateway of a created network.
    """
    main = _template(project)
    found = {
        "main.bicep": main["outputs"]["AZURE_OUTGOING_ADDRESS"]["value"],
        "network.bicep": main["resources"]["network"]["properties"]["template"]["outputs"][
            "outgoingAddress"
        ]["value"],
    }
    yield from differences(OUTGOING_ADDRESS, found, "outgoing address: ")


OUTGOING_ADDRESS = {
    "main.bicep": (
        "[if(variables('createNetwork'), coalesce(tryGet(if(variables('createNetwork'), "
        "reference('network'), null()),"
        " 'outputs', 'outgoingAddress', 'value'), ''), '')]"
    ),
    "network.bicep": (
        "[if(parameters('natGatewayEnabled'), "
        "coalesce(tryGet(tryGet(if(parameters('natGatewayEnabled'),"
        " reference(resourceId('Microsoft.Network/publicIPAddresses', parameters('publicIpName')), "
        "'2026-03-01', 'full'),"
        " null()), 'properties'), 'ipAddress'), ''), '')]"
    ),
}


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


def _waits(resources: Mapping[str, Body]) -> dict[str, set[str]]:
    return {
        name: {_label(wait) for wait in one.get("dependsOn", ())} for name, one in resources.items()
    }


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


def _as_lists(order: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    return {name: sorted(waits) for name, waits in order.items()}


def _without_description(one: Mapping[str, Any]) -> Body:
    metadata = {
        name: value for name, value in one.get("metadata", {}).items() if name != "description"
    }
    rest = {name: value for name, value in one.items() if name != "metadata"}
    return {**rest, "metadata": metadata} if metadata else rest


def _passed(module: Body) -> Iterator[tuple[str, str]]:
    """Yield the parameters of a module that are a parameter of main.bicep, with its name there."""
    for inner, given in module.get("properties", {}).get("parameters", {}).items():
        if match := re.fullmatch(
            r"\[parameters\('(\w+)'\)\]", str(given.get("value") if isinstance(given, dict) else "")
        ):
            yield inner, match[1]


def _in_group(module: Body) -> bool:
    return str(module.get("resourceGroup", "")) == "[variables('names').resourceGroup]"


def _changing(template: Body) -> list[str]:
    return sorted(set(re.findall(r"\b(utcNow|newGuid)\(", str(template))))


RULES: tuple[Rule, ...] = (
    everything_waits_for_what_it_needs,
    parameters_are_bounded_as_the_docs_say,
    parameters_and_outputs_are_described,
    an_output_holds_no_secret,
    modules_take_what_main_allows,
    a_module_gets_a_parameter_as_it_is,
    a_secret_that_was_rotated_stays,
    models_are_deployed_one_after_the_other,
    a_subscription_can_hold_many_deployments,
    names_are_the_same_next_time,
    problems_are_refused_before_anything_is_made,
    each_check_lets_through_what_it_names_and_no_more,
    the_outgoing_address_is_told_where_there_is_one,
    a_zone_of_two_endpoints_is_made_once,
)
