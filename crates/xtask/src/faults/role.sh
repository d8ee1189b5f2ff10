# One row and another one, of which a role or the supervisor is disturbed while it is at work.
# A shell has its jobs in the background ignore interrupts.
env --default-signal=INT,QUIT "$FURLONG" run "$ROW" "$OTHER" --trials 1 $OPTIONS --seed "$SEED" --format json --no-progress > stdout 2> stderr &
run=$!
tries=0
while :; do
    set -- $(roles)
    if [ $# -ge "$ROLES" ] || ! kill -0 $run 2> kill.err || [ $tries -gt 500 ]; then break; fi
    tries=$((tries + 1))
    sleep 0.02
done
sleep 0.3
initiator=${1:-0}
responder=${2:-$initiator}
