# Every kind of file that furlong reads, damaged: $COUNT files in all. What seed N does wrong it does again with seed N.

# Makes $2 of $1.
damage() { "$XTASK" hostile "$seed" < "$1" > "$2" || echo "bad: $1 was not damaged"; }

# Files may ask for measurements: these are ended after a while, as their user would end them.
reads() {
    codes=$1
    shift
    expect "$codes" prlimit --as=1500000000:1500000000 timeout --preserve-status -s INT -k 5 $within "$FURLONG" "$@"
    # An error quotes the lines of a file behind their numbers, and the reply of an adapter as it came.
    if grep -av '^ *[0-9]* |' said | tr -s '\n ' ' ' | sed 's/": NaN//g' | grep -aq '\binf \|NaN'; then echo "bad: a figure that cannot be, seed $seed: $*"; fi
    if grep -aq "$(printf '\033')" said; then echo "bad: an escape sequence reached the terminal, seed $seed: $*"; fi
    case " $codes " in *" $code "*) ;; *) echo "bad: that was seed $seed" ;; esac
}

within=2
few="--trials 1 --timeout 1s --no-save --no-progress"
unit=$((COUNT / 60))
expect 0 "$FURLONG" run pipe eventfd --save run --trials 2 --budget 2ms --no-progress
expect 0 "$FURLONG" run 'pipe/*' -m one-way -s 64 -s 4KiB --save stream --trials 1 --budget 1ms --no-progress
set -- data/furlong/runs/run.jsonl data/furlong/runs/stream.jsonl "$ROOT"/tests/runs-of-schema-1/*.jsonl
for seed in $(seq $((20 * unit))); do
    base=$1
    shift
    set -- "$@" "$base"
    damage "$base" hostile.jsonl
    for verb in export 'export --format json' report explain 'runs show'; do reads '0 1 2 7' $verb ./hostile.jsonl; done
    reads '0 1 2 6 7' compare ./hostile.jsonl run
    cp hostile.jsonl data/furlong/runs/hostile.jsonl
    reads 0 runs list
    rm data/furlong/runs/hostile.jsonl
done

cat > experiment.toml << 'END'
name = "mine"
title = "Is our pipe still slower than our socket?"
author = "the storage team"
year = 2024

[measure]
kind = "round-trip"
sizes = ["100", "4KiB"]
count = 1_000
per_trial = 100
place = "other-core"
order_by = "mean_us"

[[row]]
name = "pipe"
row = "pipe/block"
published = [{ size = "100", mean_us = 21.5 }, { size = "4KiB", mean_us = 24 }]

[[row]]
name = "shared memory"
row = "posix-shm/futex"

[[claim]]
text = "The pipe beats the shared memory."
faster = "pipe"
than = "shared memory"
END
for seed in $(seq $((8 * unit))); do
    damage experiment.toml hostile.toml
    reads '0 1 2 7 130' replay ./hostile.toml $few
done

cat > workload.toml << 'END'
size = "4MiB"
rate = "60/s"
pattern = "one-way"
objective = "latency"
slo = "p99<20ms"
languages = ["c", "rust"]
boundary = "process"
receivers = 1
accept-shared-memory = true
END
for seed in $(seq $((8 * unit))); do
    damage workload.toml hostile.toml
    reads '0 1 2 3 7 130' recommend --workload ./hostile.toml --within 1s --timeout 1s --no-save --no-progress
done

# Programs of adapters: a manifest that is damaged, then replies that are.
mkdir adapter
cp "$ROOT"/adapters/python/*.py adapter
cat > manifest.toml << 'END'
name = "mine"
licence = "MIT"
needs = [{ command = "python3", get = "apt install python3" }]
command = ["python3", "adapter.py"]

[[rows]]
name = "python-pipe"
arguments = ["pipe"]
does = ["interprets"]
expectation = "some microseconds"
END
for seed in $(seq $((9 * unit))); do
    damage manifest.toml adapter/adapter.toml
    reads '0 1 2 7 130' run --adapter ./adapter python-pipe pipe --budget 1ms $few
    nothing_left
done
sed 's/"python3", "adapter.py"/"sh", "lying.sh"/' manifest.toml > adapter/adapter.toml
echo 'real=$FURLONG_WRITE; { FURLONG_WRITE=/dev/fd/1 python3 adapter.py "$@"; } | "$XTASK" hostile "$SEED" --by-line > "$real"' > adapter/lying.sh
for seed in $(seq $((9 * unit))); do
    export SEED=$seed
    reads '0 1 7 130' run --adapter ./adapter python-pipe pipe --budget 1ms $few
    nothing_left
done

# Journals of dead runs. They may name 65536 links, each of which is looked for.
within=20
folder=tmp/furlong-0123456789abcdef
mkdir other
echo mine > other/precious
for seed in $(seq $((6 * unit))); do
    mkdir -p $folder/0
    {
        echo '{"prefix":"furlong-0123456789abcdef","key":2,"file_folder":"'"$here"'/other","ipc_namespace":null,"boot":"'"$(cat /proc/sys/kernel/random/boot_id)"'"}'
        echo '{"links":3}'
        echo '"programs"'
        echo '{"making":{"zram":{"number":9999,"size_bytes":4096}}}'
        echo '{"making":{"overcommit":{"from":0,"to":0}}}'
        echo '{"gone":{"loop":{"number":9999}}}'
    } > journal
    damage journal $folder/journal
    reads '0 1' doctor
    reads '0 1' doctor --clean
    [ "$(cat other/precious)" = mine ] || echo "bad: seed $seed removed or changed another file"
    rm -rf $folder
done
nothing_left
