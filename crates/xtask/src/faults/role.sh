# What is done to a role or the supervisor while the row is at work, with the seed that has it measured first.
# A shell has its jobs in the background ignore interrupts.
env --default-signal=INT,QUIT "$FURLONG" run "$ROW" "$OTHER" --trials 1 $ADAPTER $SETTING $OPTIONS --seed $SEED --format json --no-progress > stdout 2> stderr &
run=$!
tries=0
# The roles of an adapter's program say when they are in the phase.
while kill -0 $run 2> kill.err && [ $tries -lt 1000 ]; do
    if [ -d held ]; then
        set -- $(cat held/initiator held/responder 2> kill.err)
    else
        set -- $(roles)
    fi
    if [ $# -ge "$ROLES" ]; then break; fi
    tries=$((tries + 1))
    sleep 0.02
done
if [ $# -lt "$ROLES" ]; then
    wait $run
    echo "bad: the roles were not seen at work: $(grep '"reason"' stdout) $(tail -c 300 stderr)"
    exit
fi
initiator=$1
responder=${2:-$initiator}
for last; do :; done
# Of others, the time tells for which one has run: before the phase it is short.
ran() {
    for task in "/proc/$1/task/"*; do
        if read -r ns rest < "$task/schedstat" && [ "$ns" -gt $((RAN_MS * 1000000)) ]; then return; fi
    done
    false
}
# The thread of the role that was started last.
last_thread() { ls "/proc/$initiator/task" | sort -n | tail -n 1; }
tries=0
until [ -d held ] || [ $tries -gt $((10 + RAN_MS / 10)) ] || ran "$initiator" 2> kill.err; do
    tries=$((tries + 1))
    sleep 0.02
done
