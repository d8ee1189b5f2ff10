# A cpuset removes CPUs from a run while it measures: first one of two, then the other one.
[ "$(nproc)" -ge 2 ] || { echo 'not triable: it needs two CPUs'; exit; }
make_group cpuset cpuset.cpus cpuset.cpus
set_cpus() { echo "$1" > "$group/cpuset.cpus" 2> group.err; }
if [ -e "$group/cpuset.mems" ]; then cat "${group%/*}/cpuset.mems" > "$group/cpuset.mems" 2> group.err; fi
for after in 0 1; do
    if ! set_cpus 0-1; then echo "not triable: $(cat group.err)"; rmdir "$group"; exit; fi
    in_group "$FURLONG" run pipe posix-shm/futex --trials 6 --budget 50ms --timeout 3s --no-save --no-progress --format json > said 2>&1 &
    run=$!
    sleep 0.4
    set_cpus $after
    wait $run
    code=$?
    case $code in
        0 | 1 | 7) ;;
        *) echo "bad: processors 0-1, then $after: exit code $code: $(tail -c 300 said)" ;;
    esac
    nothing_left
done
remove_group
