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
# Runs the row $1, whose responder starves for $2 seconds.
starve() {
    "$FURLONG" run "$1" --trials 1 --budget 500ms --warm-up 1ms --timeout 250ms --no-save --no-progress --format json > said 2> stderr &
    run=$!
    until [ "$(roles | wc -l)" = 2 ] || [ ! -d /proc/$run ]; do sleep 0.01; done
    responder=$(roles | tail -n 1)
    chrt --idle --pid 0 "$responder"
    echo "$responder" > "$group/cgroup.procs"
    { sleep "$2"; echo "$responder" > "$base/cgroup.procs"; } 2> moved.err &
    wait $run
    code=$?
}
# So many on each processor that their turns take much longer than all that is waited for: of three on two processors a role got one at times.
spinners=$(($(nproc) * 5))
for number in $(seq $spinners); do
    in_group sh -c "taskset --cpu-list --pid $((number % $(nproc))) \$\$ > pinned 2>&1; : > spins$number; while :; do :; done" &
done
# In a group that may hardly run they would not begin to spin, and the role would get all turns.
until [ "$(ls | grep -c '^spins')" = $spinners ]; do sleep 0.05; done
allow 1000
for row in pipe/block posix-shm/yield posix-shm/futex sysv-shm/yield; do
    starve "$row" 1.2
    [ $code = 0 ] || echo "bad: $row: exit code $code"
    says '"status": "measured"'
    nothing_left
done
starve pipe/block 12
[ $code = 1 ] || echo "bad: exit code $code"
says 'other processes occupied the CPUs'
says 'was killed and has not exited yet'
# To die takes a processor as well.
allow 900000
kill -KILL $(cat "$group/cgroup.procs")
wait
nothing_left
remove_group
