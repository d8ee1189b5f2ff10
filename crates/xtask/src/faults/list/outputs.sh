# Output that cannot be written: full disks, closed descriptors, and special files.
short="--trials 1 --budget 2ms --warm-up 100us --no-progress"
expect 0 "$FURLONG" run pipe posix-shm --trials 2 --budget 2ms --no-progress --save run
for verb in "run pipe $short --no-save" "run pipe $short --no-save --format json" list doctor 'runs list' 'runs show run' 'export run' 'compare run run' 'man run' \
    'completions bash' 'adapter list' --help 'run --help' --version; do
    expect 1 sh -c "\"\$FURLONG\" $verb > /dev/full"
done
for to in '2> /dev/full' '2>&-' '2>&1 | true' '| true' '>&- 2>&-'; do
    expect '0 1' sh -c "\"\$FURLONG\" run pipe $short --no-save $to"
done
mkdir folder
for out in /dev/full folder '' nowhere/out.csv; do
    expect '1 2' "$FURLONG" export run -o "$out"
done
expect 2 "$FURLONG" export run -o data/furlong/runs/run.jsonl
expect 0 "$FURLONG" export run -o out.csv
nothing_left
