#!/bin/sh
# Measures the host on which it runs and leaves three files in a folder: HOST.doctor.txt, HOST.rows.jsonl, HOST.costs.jsonl.
# A file that is there is not made again: after an interruption, start it once more.
#
#   FURLONG   the program; the one in PATH if not set
#   RESULTS   the folder; ./results if not set
#   HOST      what the host is called; what the system calls it if not set
#   LABEL     what is different this time, for 'furlong compare --by label'
#   LOCK      the file by which runs on one host wait for each other
set -eu
furlong=${FURLONG:-furlong}
results=${RESULTS:-results}
host=${HOST:-$(uname -n)}
label=${LABEL:-baseline}

case $host in
    -* | .* | *[!A-Za-z0-9._-]*)
        echo "measure.sh: '$host' is no name of a host: letters, digits, '.', '_' and '-', and no '-' or '.' first" >&2
        exit 2
        ;;
esac

# One run at a time on a host. The lock is given back when this script and what it started have ended.
exec 9>"${LOCK:-/tmp/furlong.lock}"
flock 9

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export XDG_DATA_HOME="$work"
mkdir -p "$results"

# A file is in the folder as a whole or not at all.
keep() {
    cp "$1" "$results/.$2.part"
    mv "$results/.$2.part" "$results/$2"
}

# With 1, a row failed: the others were measured, and the file says which.
unless_a_row_failed() {
    [ "$1" -eq 1 ] || exit "$1"
}

if [ ! -e "$results/$host.doctor.txt" ]; then
    "$furlong" doctor >"$work/doctor.txt"
    keep "$work/doctor.txt" "$host.doctor.txt"
fi
# The rows to measure: change them here.
if [ ! -e "$results/$host.rows.jsonl" ]; then
    "$furlong" run pipe unix-stream posix-mq tcp posix-shm posix-shm/spin -s 128 -s 64KiB --within 2min --label="$label" --host="$host" --save rows --no-progress >&2 || unless_a_row_failed $?
    keep "$work/furlong/runs/rows.jsonl" "$host.rows.jsonl"
fi
# What this host charges for a system call, a wake-up, a copy: why it is slower, if it is.
if [ ! -e "$results/$host.costs.jsonl" ]; then
    "$furlong" costs --label="$label" --host="$host" --save costs --no-progress >&2 || unless_a_row_failed $?
    keep "$work/furlong/runs/costs.jsonl" "$host.costs.jsonl"
fi
