"""What the workflows do and in which order, read whole.

A step that is changed, dropped or let through fails here.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
DEPLOY = yaml.safe_load((ROOT / ".github/workflows/deploy.yml").read_text(encoding="utf-8"))
BACKUP = yaml.safe_load((ROOT / ".github/workflows/backup.yml").read_text(encoding="utf-8"))
ON = True
"""YAML 1.1 reads the key `on` as a truth."""
BICEP = "0.49.2"
PASSWORD = {"NEO4J_PASSWORD": "${{ secrets.NEO4J_PASSWORD }}"}
SECRETS = PASSWORD | {"PROJECT_KEYS": "${{ secrets.PROJECT_KEYS }}"}
PASSWORD_OR_SECRET = PASSWORD | {"NEO4J_CREDENTIAL_ID": "${{ vars.NEO4J_CREDENTIAL_ID }}"}


def steps(job: dict[str, Any]) -> list[str]:
    """Return what each step of a job runs, or the action that it uses without its version."""
    return [step.get("run", "").strip() or step["uses"].partition("@")[0] for step in job["steps"]]


def unconditional(job: dict[str, Any]) -> bool:
    """Return whether a failed step ends a job: no step has a condition of its own or may fail."""
    return not [step for step in job["steps"] if {"if", "continue-on-error"} & set(step)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_and_images_are_pinned(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert re.fullmatch(
                r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}")
            )
        for service in job.get("services", {}).values():
            assert re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", service["image"])
    for line in text.splitlines():
        if "uses:" in line:
            assert re.search(r"# v\d+\.\d+\.\d+$", line), line


def test_ci_runs_every_check_on_every_python_with_a_neo4j() -> None:
    job = CI["jobs"]["test"]
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert job["services"]["neo4j"]["image"].startswith("neo4j:")
    assert steps(job)[-2:] == [".ci/run", "make demo"]
    assert unconditional(job)
    parts = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert parts[-2:] == ["make test", "make test-deep"]


def test_every_compiler_of_the_workflows_is_the_pinned_one() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    assert set(re.findall(r"az bicep install(.*)", text)) == {f" --version v{BICEP}"}
    assert text.count("az bicep install") == 4


def test_a_pull_request_shows_what_would_change_and_nothing_else_does() -> None:
    assert set(DEPLOY[ON]) == {"pull_request", "push", "workflow_dispatch"}
    assert DEPLOY[ON]["push"] == {"tags": ["v*"]}
    preview = DEPLOY["jobs"]["what-if"]
    assert preview["if"] == (
        "github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name == "
        "github.repository"
    )
    assert (preview["needs"], preview["environment"]) == ("template", "preview")
    assert "az deployment sub what-if" in steps(preview)[-1]
    assert not re.search(r"sub create|azd (up|deploy|provision)", "\n".join(steps(preview)))
    assert steps(DEPLOY["jobs"]["template"])[-1].endswith(".ci/templates")
    assert "if" not in DEPLOY["jobs"]["template"]


def test_previews_and_deployments_do_not_share_a_queue() -> None:
    assert DEPLOY["concurrency"] == {
        "group": "${{ github.event_name == 'pull_request' && format('preview-{0}', github.ref)"
        " || format('production-{0}', vars.AZURE_ENV_NAME) }}",
        "cancel-in-progress": "${{ github.event_name == 'pull_request' }}",
    }
    assert not [name for name, job in DEPLOY["jobs"].items() if "concurrency" in job]


def test_a_tag_is_deployed_after_its_tests_from_the_package_that_was_built_with_them() -> None:
    package, deploy = DEPLOY["jobs"]["package"], DEPLOY["jobs"]["deploy"]
    assert package["if"] == deploy["if"] == "github.ref_type == 'tag'"
    assert steps(package)[-3:] == [".ci/run", "make package", "actions/upload-artifact"]
    assert unconditional(package)
    assert "permissions" not in package

    assert (deploy["needs"], deploy["environment"]) == (["template", "package"], "production")
    assert unconditional(deploy)
    ran = steps(deploy)
    assert ran.index("actions/download-artifact") < ran.index("azd provision --no-prompt")
    assert ran[-3:] == [
        "azd provision --no-prompt",
        (
            "azd deploy api --from-package build/package.zip --no-prompt || "
            "{ sleep 60; azd deploy api --from-package build/package.zip --no-prompt; }"
        ),
        "infra/hooks/smoke.sh || infra/hooks/go-back.sh",
    ]
    uploaded = package["steps"][-1]["with"]
    assert (uploaded["name"], uploaded["path"]) == ("package", "build/package.zip")


@pytest.mark.parametrize("name", ["what-if", "deploy"])
def test_a_job_logs_in_by_identity_after_it_has_seen_the_password(name: str) -> None:
    job = DEPLOY["jobs"][name]
    goes_back = {"actions": "read", "deployments": "read"} if name == "deploy" else {}
    assert job["permissions"] == {"contents": "read", "id-token": "write", **goes_back}
    ran = steps(job)
    assert ran[:2] == ["actions/checkout", ".ci/require-password"]
    assert job["steps"][1]["env"] == PASSWORD_OR_SECRET
    (login,) = [step["with"] for step in job["steps"] if "azure/login" in step.get("uses", "")]
    assert set(login) == {"client-id", "tenant-id", "subscription-id"}
    reading = [step for step in job["steps"] if step.get("env") == SECRETS]
    assert len(reading) == 1


def test_every_night_all_projects_are_exported_by_an_identity_and_restored() -> None:
    (job,) = BACKUP["jobs"].values()
    assert [*BACKUP[ON]] == ["schedule", "workflow_dispatch"]
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    assert (job["if"], job["environment"]) == ("vars.BACKUP_PLACE != ''", "backup")
    assert unconditional(job)
    login, token, last = job["steps"][-3:]
    assert set(login["with"]) == {"client-id", "tenant-id", "subscription-id"}
    assert "https://storage.azure.com" in token["run"]
    assert last["run"] == '.ci/backup "$BACKUP_PLACE"'
    assert last["env"].items() >= PASSWORD.items()
    assert [one for one in job["steps"] if "secrets." in str(one)] == [last]


def test_no_workflow_uses_a_secret_besides_password_and_keys() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    used = set(re.findall(r"secrets\.(\w+)", source))
    assert used == {"NEO4J_PASSWORD", "PROJECT_KEYS", "SMOKE_KEY"}


@pytest.mark.parametrize(
    ("variables", "status"),
    [
        ({}, 1),
        ({"NEO4J_PASSWORD": ""}, 1),
        ({"NEO4J_PASSWORD": "p"}, 0),
        ({"NEO4J_PASSWORD": "", "NEO4J_CREDENTIAL_ID": "/subscriptions/1"}, 0),
    ],
    ids=["unset", "empty", "given", "in a vault"],
)
def test_a_deployment_without_a_password_ends_at_once_and_says_what_to_set(
    variables: dict[str, str], status: int
) -> None:
    ended = subprocess.run(  # noqa: S603 - our own script
        [str(ROOT / ".ci" / "require-password")],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == status
    said = ended.stdout
    assert (said == "") == (status == 0)
    if status:
        assert said.startswith("::error::NEO4J_PASSWORD is not set.")
        assert "NEO4J_CREDENTIAL_ID" in said
