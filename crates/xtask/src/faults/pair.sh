# One row and another one. The row of an adapter's program has to be made first.
ADAPTER=
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
    OPTIONS="--warm-up 1ms --budget 5ms --timeout 5s"
    ADAPTER="--adapter ./adapter"
fi
# What is another host to furlong is a shell of this one, which finds furlong and need not get a copy.
mkdir bin
ln -s "$FURLONG" bin/furlong
export PATH="$here/bin:$PATH"

# Measures both, with more options.
pair() { "$FURLONG" run "$ROW" "$OTHER" --trials 1 $ADAPTER $SETTING --no-progress "$@"; }
