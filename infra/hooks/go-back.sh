#!/bin/sh
# Deploys the release before again, out of the package that its run of deploy.yml keeps, and fails: this release is not there.
# The template stays as this release has it.
set -eu

of="repos/${GITHUB_REPOSITORY:?is not set: OWNER/NAME}/deployments"
before=$(gh api "$of?environment=production&per_page=50" --jq '.[] | "\(.id) \(.ref)"' | while read -r id ref; do
  if [ "$(gh api "$of/$id/statuses" --jq 'any(.[]; .state == "success")')" = true ]; then
    echo "${ref#refs/tags/}"
    break
  fi
done)

if [ -z "$before" ]; then
  echo "::error::This release does not work, and there is none before it: it stays deployed." >&2
  exit 1
fi

for run in $(gh run list --workflow deploy.yml --branch "$before" --json databaseId --jq '.[].databaseId'); do
  if gh run download "$run" --name package --dir build/before; then
    break
  fi
done

if [ ! -f build/before/package.zip ]; then
  echo "::error::This release does not work, and the package of $before is gone: run this workflow by hand on $before." >&2
  exit 1
fi

azd deploy api --from-package build/before/package.zip --no-prompt

if "$(dirname "$0")/smoke.sh"; then
  echo "::error::This release does not work: $before is deployed again." >&2
else
  echo "::error::This release does not work, nor does $before, which is deployed again: look at /health/ready." >&2
fi
exit 1
