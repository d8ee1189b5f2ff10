# Ends `furlong observe` early, or runs it without rights or disk space, and checks that the observed program goes on: safety.sh CASE PID
# KILLS. It prints the outcome.
set -eu
cd /mnt
case=$1 observed=$2 kills=$3
export PATH=/mnt:$PATH PYTHONUTF8=1

fail() {
    echo "$*" >&2
    exit 1
}

# Waits until a command succeeds.
wait_for() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 1000 ] || fail "timed out while waiting for: $*"
        sleep 0.01
    done
}

written() { sed -n 's/^wchar: //p' "/proc/$1/io"; }
has_written() { [ "$(written "$1")" -gt "$2" ]; }

# Checks that a program sends further messages and has no tracer.
goes_on() {
    wait_for has_written "$1" "$(($(written "$1") + 5))"
    grep -q '^TracerPid:.0$' "/proc/$1/status" || fail "process $1 has a tracer"
}

# Zombies are excluded, because no process of this namespace reaps them.
observes() { pgrep -r R,S,D -x furlong >/dev/null; }
observes_nothing() { ! observes; }

# Starts a command, kills it at a random moment in the first 250 ms, and then runs the function $then.
kill_at_random() {
    killed=0
    for _ in $(seq "$kills"); do
        "$@" >/dev/null 2>&1 &
        observer=$!
        sleep "0.$(printf %06d "$(shuf -n 1 -i 0-250000)")"
        kill -KILL $observer 2>/dev/null || :
        status=0
        wait $observer || status=$?
        [ $status != 137 ] || killed=$((killed + 1))
        goes_on "$observed"
        $then
    done
    echo "$killed of $kills were killed before their end, and the observed program goes on"
}

# Trace files are complete or do not exist.
check_trace() {
    [ ! -e trace.jsonl ] || /usr/bin/python3 -c 'import json, sys; [json.loads(line) for line in open("trace.jsonl")]'
    rm -f trace.jsonl
}

# Ends a program of ticker.py, which must have lost no message.
end() {
    rm -f "$2"
    kill -TERM "$1"
    wait_for test -s "$2"
    [ "$(cat "$2")" = 0 ] || fail "a message was lost"
}

# The command goes on, if it was started.
own='/usr/bin/python3 /mnt/ticker.py own'
is_started() { ! pgrep -r R,S,D -f "$own" >/dev/null || pgrep -r R,S,D -f "^$own" >/dev/null; }
has_exited() { ! pgrep -r R,S,D -f "$own" >/dev/null; }
check_command() {
    wait_for is_started
    pid=$(pgrep -r R,S,D -o -f "^$own") || return 0
    goes_on "$pid"
    end "$pid" own
    wait_for has_exited
}

# Runs a command that must exit with this status and reason.
refused() {
    status=$1 reason=$2 code=0
    shift 2
    "$@" >/dev/null 2>error || code=$?
    grep -q "$reason" error && [ $code = "$status" ] || fail "exited with $code: $(cat error)"
    goes_on "$observed"
    echo "exits with $code: $(head -n 1 error)"
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

# Prints the settings of tracefs that a forgotten observer would have changed.
tracing_state() {
    cd /sys/kernel/tracing
    ls instances
    cat events/enable tracing_on current_tracer
    cat dynamic_events uprobe_events 2>/dev/null || :
}

case $case in
kill-pid)
    (tracing_state) >tracing
    then=: && kill_at_random furlong observe "$observed" --for 60s
    ;;
# The observation ends before most kills, so that they also hit the writing of the file.
kill-trace) then=check_trace && kill_at_random furlong observe "$observed" --for 40ms --save-trace trace.jsonl ;;
kill-command) then=check_command && kill_at_random furlong observe --command "$own; :" ;;
close-terminal)
    # The end of script closes the terminal.
    script -qc "furlong observe $observed --for 60s" /dev/null >/dev/null 2>&1 &
    wait_for observes
    sleep 0.2
    kill -KILL $!
    wait_for observes_nothing
    goes_on "$observed"
    echo "the observer exits"
    ;;
fill-disk)
    mkdir full
    mount -t tmpfs -o size=16k none full
    refused 1 trace.jsonl furlong observe "$observed" --for 1s --save-trace full/trace.jsonl
    [ -z "$(ls full)" ] || fail "a part of the file is left"
    ;;
deny-trace) refused 7 'cannot trace' as_nobody furlong observe "$observed" --for 1s ;;
# A user with the right to trace may still not inspect another user's processes.
deny-descriptors)
    rights=+perfmon,+dac_read_search
    refused 7 'which belongs to another user' \
        as_nobody --inh-caps $rights --ambient-caps $rights furlong observe "$observed" --for 1s
    ;;
print-names)
    program=$(printf '\033[2J\302\2331mcat') fifo=$(printf '\033]0;owned\007fifo')
    cp /bin/cat "$program"
    mkfifo "$fifo"
    export program fifo
    furlong observe --command '"/mnt/$program" <"$fifo" >/dev/null & (seq 100000; sleep 0.4; seq 100000) >"$fifo"; wait' >names
    grep -q fifo names && grep -q 'cat\[' names || fail "no link in: $(cat names)"
    /usr/bin/python3 -c '
import sys, unicodedata
found = {letter for letter in open("names").read() if unicodedata.category(letter) == "Cc"} - {"\n"}
sys.exit(f"the report contains {found}" if found else 0)'
    echo "printed without control characters"
    ;;
after)
    wait_for observes_nothing
    (tracing_state) | cmp - /mnt/tracing
    ! ls -l /proc/[0-9]*/fd 2>/dev/null | grep -E 'perf_event|bpf' || fail "a process holds these descriptors"
    echo "unchanged"
    ;;
end)
    goes_on "$observed"
    end "$observed" ended
    echo "goes on, and has lost no message"
    ;;
esac
