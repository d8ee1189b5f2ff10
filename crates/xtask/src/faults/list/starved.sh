# A role gets hardly a processor: it shares a thousandth of each second with others, and comes last. Its peer finds nothing for
# longer than the time-out, and nothing is lost.
make_group cpu cpu.cfs_quota_us cpu.max
# How many microseconds of a second the group may run.
allow() {
    if [ -e "$group/cpu.max" ]; then
        echo "$1 1000000" > "$group/cpu.max"
    else
        echo 1000000 > "$group/cpu.cfs_period_us"
        echo "$1" > "$group/cpu.cfs_quota_us"
    fi
}
# Runs the row $1, whose responder starves for $2 seconds. On a busy machine it takes a second to find the responder and move it to the group,
# and the measured part must last longer.
starve() {
    "$FURLONG" run "$1" --trials 1 --budget 2s --warm-up 1ms --timeout 250ms --no-save --no-progress --format json > said 2> stderr &
    run=$!
    until [ "$(roles | wc -l)" = 2 ] || [ ! -d /proc/$run ]; do sleep 0.01; done
    responder=$(roles | tail -n 1)
    chrt --idle --pid 0 "$responder"
    echo "$responder" > "$group/cgroup.procs"
    { sleep "$2"; echo "$responder" > "$base/cgroup.procs"; } 2> moved.err &
    wait $run
    code=$?
}
allow 1000
# So many that their turns take much longer than all that is waited for: of three on two processors a role got one at times.
for _ in $(seq $(($(nproc) * 5))); do
    in_group sh -c 'while :; do :; done' &
done
for row in pipe/block posix-shm/yield posix-shm/futex sysv-shm/yield; do
    starve "$row" 1.2
    [ $code = 0 ] || echo "bad: $row: exit code $code"
    says '"status": "measured"'
    nothing_left
done
starve pipe/block 12
[ $code = 1 ] || echo "bad: exit code $code"
says 'other processes kept the processors'
says 'was killed and has not ended yet'
# To die takes a processor as well.
allow 900000
kill -KILL $(cat "$group/cgroup.procs")
wait
nothing_left
remove_group
