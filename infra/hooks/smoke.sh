#!/bin/sh
# Asks a deployed function whether it lives, is ready and, where SMOKE_PROJECT names a project, answers a question. What a
# cold start refuses is asked again for up to five minutes. Nothing of an answer is printed: logs of a run are read by many.
# The key of AUTH_MODE=function is asked of Azure; the other modes want SMOKE_KEY, a key of yours or a token.
set -eu

# a variable of the shell, else of azd's environment
value() {
  eval "printf '%s' \"\${$1:-}\"" | grep . || azd env get-value "$1"
}

# the list of processes shows arguments, so curl reads the header from standard input
ask() {
  path=$1
  shift
  if printf '%s\n' "$header" | curl --silent --show-error --fail --output /dev/null --header @- --max-time 240 \
    --retry 20 --retry-all-errors --retry-max-time 300 "$@" "$url/$path"; then
    echo "/$path: answered"
  else
    echo "/$path: not answered with success: docs/deploy.md has a runbook" >&2
    exit 1
  fi
}

url=$(value SERVICE_API_URI)
header=
ask health/live

key=${SMOKE_KEY:-}
if [ "${AUTH_MODE:-function}" != function ]; then
  header="authorization: Bearer $key"
else
  key=${key:-$(az functionapp keys list --resource-group "$(value AZURE_RESOURCE_GROUP)" \
    --name "$(value AZURE_FUNCTION_NAME)" --query functionKeys.default --output tsv)}
  header="x-functions-key: $key"
fi

if [ -z "$key" ]; then
  echo "SMOKE_KEY is not set: nothing else was asked" >&2
  exit 0
fi

ask health/ready

if [ -n "${SMOKE_PROJECT:-}" ]; then
  ask retrieve --header 'content-type: application/json' \
    --data "{\"query\": \"What is this about?\", \"project_id\": \"$SMOKE_PROJECT\", \"depth\": \"quick\"}"
fi
