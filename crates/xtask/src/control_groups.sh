# Removes control groups when the program that holds the other end of standard input ends, whatever ends it.
# Arguments: patterns of their directories.
cat > /dev/null
for group in $*; do
    [ -d "$group" ] || continue
    # A frozen process ends only after it is thawed.
    if [ -e "$group/freezer.state" ]; then echo THAWED > "$group/freezer.state"; fi
    if [ -e "$group/cgroup.freeze" ]; then echo 0 > "$group/cgroup.freeze"; fi
    signal=TERM
    for try in $(seq 200); do
        if rmdir "$group"; then break; fi
        # furlong removes its objects at the first signal.
        if [ "$try" = 100 ]; then signal=KILL; fi
        if [ "$try" = 1 ] || [ "$try" = 100 ]; then kill -s $signal $(cat "$group/cgroup.procs"); fi
        sleep 0.05
    done
done 2> /dev/null
