# Others at work on the processors of a run, or a quota for it. What was printed must say so.
unreliable() {
    noise=$(sed -n '/"noise": {/,/^  }/p' stdout)
    echo "$noise" | grep -q "\"$1\"" || echo "bad: $2: '$1' is not said: $(echo "$noise" | tr -d '\n ' | head -c 300)"
    echo "$noise" | grep -q '"level": "unreliable"' || echo "bad: $2: not unreliable: $(echo "$noise" | tr -d '\n ' | head -c 300)"
    grep -q '"status": "measured"' stdout || echo "bad: $2: nothing was measured: $(tail -c 300 stderr)"
}
run() {
    "$@" "$FURLONG" run pipe posix-shm --trials 3 --budget 20ms --no-save --no-progress --format json > stdout 2> stderr
}
if [ "$BY" = spinners ]; then
    for processor in $(seq 0 $(($(nproc) - 1))); do
        taskset -c "$processor" sh -c 'while :; do :; done' &
        spinners="${spinners-} $!"
    done
    run
    kill $spinners
    unreliable spin-lost 'a busy-waiting process on each CPU'
else
    make_group cpu cpu.cfs_quota_us cpu.max
    if [ -e "$group/cpu.max" ]; then echo '10000 100000' > "$group/cpu.max"; else echo 10000 > "$group/cpu.cfs_quota_us"; fi
    run in_group
    unreliable throttled 'a tenth of a processor'
fi
nothing_left
[ -z "${group-}" ] || remove_group
