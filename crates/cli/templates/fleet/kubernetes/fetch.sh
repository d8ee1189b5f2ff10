#!/bin/sh
# Fetches what pods have measured so far into a folder, a file a run: sh fetch.sh FOLDER. Started again, it fetches what is missing.
set -eu
results=${1:-results}
mkdir -p "$results"
for pod in $(kubectl get pods --selector app=furlong --output name); do
    name=${pod##*/}
    [ ! -e "$results/$name.1.jsonl" ] || continue
    # A log begins with other lines; a pod that has not ended has no run in it.
    kubectl logs --tail=-1 "$pod" |
        awk -v prefix="$results/$name" '/^\{"record":"run"/ { close(file); file = prefix "." ++runs ".jsonl" } file && /^\{/ { print > file }'
done
