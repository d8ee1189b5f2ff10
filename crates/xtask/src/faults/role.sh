# One row and another one, of which a role or the supervisor is disturbed while it is at work.
STANDSTILL=1.2
if [ "$ROW" = held/block ]; then
    STANDSTILL=5.5
    if ! command -v python3 > found; then echo "not triable: python3 is not here"; exit; fi
    mkdir adapter held
    cp "$ROOT"/adapters/python/protocol.py "$ROOT"/crates/xtask/src/faults/held.py adapter
    for file in adapter.py adapter.toml; do
        sed 's/NAME/held/; s/^command = .*/command = ["python3", "held.py"]/' "$ROOT/adapters/templates/python/$file" > "adapter/$file"
    done
    export HELD="$PHASE" HELD_FOLDER="$here/held"
    # Its interpreter has to start within the time-out, also beside other work.
    OPTIONS="--adapter ./adapter --warm-up 1ms --budget 5ms --timeout 5s"
fi
# A shell has its jobs in the background ignore interrupts.
env --default-signal=INT,QUIT "$FURLONG" run "$ROW" "$OTHER" --trials 1 $OPTIONS --seed "$SEED" --format json --no-progress > stdout 2> stderr &
run=$!
tries=0
# The roles of an adapter's program say when they are in the phase; for others, time must tell.
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
[ -d held ] || sleep 0.3
initiator=$1
responder=${2:-$initiator}
