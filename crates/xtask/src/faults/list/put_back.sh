# Runs under conditions that change the machine are ended once a change is in effect. Afterwards the machine is as it was before.
setting=/proc/sys/vm/stat_interval
other=/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs
pages=/proc/sys/vm/nr_overcommit_hugepages
for file in $setting $other $pages; do
    if ! cat $file > value || ! cat value > $file; then echo "not triable: $file cannot be written"; exit; fi
done
# Containers have IPC namespaces.
echo 100 > /proc/sys/user/max_ipc_namespaces
was=$(cat $setting)
limit=$(cat $pages)
conditions="--quota 20% --beside cpu:1 --pages huge --boundary container"
changed="--set vm.stat_interval=$((was + 7)) --set $other=$(($(cat $other) + 7))"

# The control groups of all runs in this cell: their names begin with those of the runs' directories.
groups() {
    for folder in $(ls tmp) $run_names; do find /sys/fs/cgroup -type d -name "$folder*"; done | sort -u
}
namespaces() { readlink /proc/[0-9]*/ns/* 2> kill.err | sort -u; }
# Everything that a condition changes, except directories and processes.
machine() {
    grep . $setting $other $pages
    find /sys/fs/cgroup -maxdepth 2 -name cgroup.subtree_control -exec grep -H . {} +
    groups
    namespaces
    cat /proc/mounts
    sed 's/:.*//' /proc/net/dev
}
# Whether a change of this kind is in effect.
in_effect() {
    case $1 in
        setting) [ "$(cat $setting)" != "$was" ] ;;
        pages) [ "$(cat $pages)" != "$limit" ] ;;
        groups) [ -n "$(groups)" ] ;;
        namespaces) [ "$(namespaces | wc -l)" -gt "$spaces" ] ;;
    esac
}
# Starts furlong with the arguments after $3, and ends it by $3 when a change of the kind $1 is in effect. $2: its exit status.
end() {
    kind=$1 code=$2 by=$3
    shift 3
    env --default-signal=INT,QUIT "$FURLONG" "$@" --no-save --no-progress > said 2>&1 &
    run=$!
    until in_effect "$kind" || [ ! -d "/proc/$run" ]; do sleep 0.005; done
    run_names=$(ls tmp)
    [ -d "/proc/$run" ] || echo "bad: no $kind in effect under $*: $(tail -c 300 said | tr '\n' ' ')"
    $by
    wait $run
    ended=$?
    [ $ended = "$code" ] || echo "bad: exit code $ended, not $code, of $*: $(tail -c 300 said | tr '\n' ' ')"
    if [ "$by" = kill_all ]; then
        sleep 2.2
        expect 0 "$FURLONG" doctor --clean
    fi
    nothing_left
    tries=0
    until machine > after && cmp -s before after || [ $tries -gt 100 ]; do
        tries=$((tries + 1))
        sleep 0.05
    done
    diff before after | sed "s/^/bad: $by at $kind under $1: /"
}
kill_supervisor() { kill -KILL $run; }
interrupt() { kill -INT $run; }
terminate() { kill -TERM $run; }

run_names=
machine > before
spaces=$(namespaces | wc -l)
for kind in setting pages groups namespaces; do
    end $kind 137 kill_supervisor tune tcp $changed $conditions --budget 300ms
done
end pages 137 kill_all tune tcp $changed $conditions --budget 300ms
every="run tcp $changed $conditions --trials 100 --budget 500ms"
end groups 137 kill_supervisor $every
end groups 137 kill_all $every
end groups 130 interrupt $every
end groups 143 terminate $every
