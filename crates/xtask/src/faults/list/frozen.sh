# All processes of a run stand still for a second, at another moment each time: in every phase, and between them.
make_group freezer freezer.state cgroup.freeze
freeze() {
    if [ -e "$group/freezer.state" ]; then
        echo FROZEN > "$group/freezer.state"
        sleep 1
        echo THAWED > "$group/freezer.state"
    else
        echo 1 > "$group/cgroup.freeze"
        sleep 1
        echo 0 > "$group/cgroup.freeze"
    fi
}
for moment in $(seq 0 30 900); do
    in_group "$FURLONG" run fifo posix-shm/futex anon-shm/futex --trials 1 --budget 80ms --warm-up 50ms --timeout 800ms --no-save --no-progress --format json > stdout 2> stderr &
    run=$!
    sleep "0.$(printf %03d "$moment")"
    freeze
    wait $run
    code=$?
    if [ $code != 0 ] || [ "$(grep -c '"status": "measured"' stdout)" != 3 ]; then
        echo "bad: frozen after $moment ms: exit code $code: $(grep '"reason"' stdout | tr -d '\n') $(tail -c 300 stderr)"
    fi
    nothing_left
done
remove_group
