# One row and another one, of which a role or the supervisor is disturbed while it is at work.
STANDSTILL=1.2
ADAPTER=
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
    OPTIONS="--warm-up 1ms --budget 5ms --timeout 5s"
    ADAPTER="--adapter ./adapter"
fi
# Which of the two comes first is drawn by the seed: the disturbed one must.
seed=0
until [ "${first-}" = "${ROW%/*}" ]; do
    seed=$((seed + 1))
    HELD=none "$FURLONG" run "$ROW" "$OTHER" --trials 1 $ADAPTER --warm-up 100us --budget 2ms --seed $seed --save order --replace > order 2>&1
    first=$(sed -n '/^{"record":"trial"/{s/.*"case":{"mechanism":"\([^"]*\)".*/\1/p;q}' data/furlong/runs/order.jsonl)
    if [ $seed -gt 20 ]; then echo "bad: the row was never the first: $(tail -c 300 order)"; exit; fi
done
# A shell has its jobs in the background ignore interrupts.
env --default-signal=INT,QUIT "$FURLONG" run "$ROW" "$OTHER" --trials 1 $ADAPTER $OPTIONS --seed $seed --format json --no-progress > stdout 2> stderr &
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
