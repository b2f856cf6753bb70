"""What has to be true of who may ask a deployment."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from drift.auth.project_keys import MAX_BYTES, KeysError, parse
from drift.local.infra.bicep_parameters import UNREAD
from drift.local.infra.finding import Said, Values, settings_of
from drift.local.infra.resource_ids import misfit, type_of

SECRET = "Microsoft.KeyVault/vaults/secrets"  # noqa: S105 - a type
_OF_EASYAUTH = ("entraClientId", "authTenantId", "projectClaim")


def keys(values: Values) -> Iterator[Said]:
    """Keys in one secret where callers are asked for them, and only there."""
    asked = values.get("authMode") == "keys"
    listed, named = values.get("projectKeys"), str(values.get("projectKeysCredentialId") or "")
    if asked and not listed and not named:
        text = (
            "keys asks callers for keys, and none are given: export PROJECT_KEYS (drift keys new "
            "makes one), or set PROJECT_KEYS_CREDENTIAL_ID"
        )
        yield "authMode", "problem", text

    if not asked and (listed or named):
        name = "projectKeys" if listed else "projectKeysCredentialId"
        text = (
            f"is not asked for with AUTH_MODE={values.get('authMode')}, so a caller of any project "
            "would get in without one: set AUTH_MODE=keys, or take it out"
        )
        yield name, "problem", text

    if listed and named:
        text = "is given beside PROJECT_KEYS: the keys stand in one secret, so leave one of them"
        yield "projectKeysCredentialId", "problem", text
    elif asked and listed and values.get("neo4jCredentialId"):
        text = (
            "has no vault to go to, since neo4jCredentialId names a secret of yours: put the keys "
            "beside it, and set PROJECT_KEYS_CREDENTIAL_ID"
        )
        yield "projectKeys", "problem", text

    if named and type_of(named).lower() != SECRET.lower():
        text = f"{misfit(named)}: give the resource id of a {SECRET}"
        yield "projectKeysCredentialId", "problem", text


def entries(values: Values) -> Iterator[Said]:
    """Keys that the function can read, as it reads them; nothing that stands in them is said."""
    listed = values.get("projectKeys")
    if not isinstance(listed, str) or not listed or len(listed) > MAX_BYTES:
        return  # the template's own bounds say so

    try:
        parse(listed)
    except KeysError as error:
        yield "projectKeys", "problem", f"PROJECT_KEYS is wrong: {error}"


def entra(values: Values) -> Iterator[Said]:
    """A registration where callers sign in, and only there."""
    mode, client = values.get("authMode"), values.get("entraClientId")
    if mode == "easyauth" and client == "":
        text = (
            "is empty, and AUTH_MODE=easyauth takes tokens for it: make an app registration "
            "(docs/deploy.md) and set ENTRA_CLIENT_ID to its client id"
        )
        yield "entraClientId", "problem", text

    for name in _OF_EASYAUTH:
        if mode != "easyauth" and values.get(name) not in {None, "", UNREAD}:
            text = (
                f"is not used with AUTH_MODE={mode}, so nobody would have to sign in: set "
                "AUTH_MODE=easyauth, or take it out"
            )
            yield name, "problem", text

    for name in ("entraClientId", "authTenantId"):
        given = values.get(name)
        if isinstance(given, str) and given and not _is_guid(given):
            yield name, "problem", f"{given!r} is no id as Entra gives them: 36 letters and dashes"


def channel(values: Values) -> Iterator[Said]:
    """A channel for each retrieval where callers are kept apart."""
    name = settings_of(values).get("PROGRESS_CHANNEL")
    apart = values.get("authMode") in {"keys", "easyauth"}
    if apart and isinstance(name, str) and name and "{retrieval_id}" not in name:
        text = (
            f"is {name!r} for all: whoever subscribes sees the progress of every project; put "
            "{retrieval_id} into it, or leave it empty"
        )
        yield "PROGRESS_CHANNEL", "note", text


def _is_guid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
