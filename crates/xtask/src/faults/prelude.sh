# What every cell of the fault matrix begins with: it runs as the first process of namespaces of its own, in a folder of its
# own, and tells what furlong has left. Arguments: none; FURLONG, ROW and OTHER come from outside.
set -u
here=$PWD
export TMPDIR=$here/tmp HOME=$here/home XDG_DATA_HOME=$here/data
mkdir -p tmp home data queues
mount -t tmpfs none /dev/shm
mount -t mqueue none queues
# Without a namespace of its own, what furlong makes can be seen here.
echo 0 > /proc/sys/user/max_ipc_namespaces

# The roles at work, the initiator first: nobody else's standard error is called so.
roles() {
    ls -l /proc/[0-9]*/fd/2 2> /dev/null | sed -n 's,.* /proc/\([0-9]*\)/fd/2 -> /memfd:furlong-stderr.*,\1,p' | sort -n
}

# The number of every process that runs furlong, or the program of an adapter.
furlongs() {
    ls -l /proc/[0-9]*/exe 2> /dev/null | sed -n "s,.* /proc/\([0-9]*\)/exe -> $FURLONG.*,\1,p"
    grep -l 'held[.]py' /proc/[0-9]*/cmdline 2> /dev/null | sed 's,/proc/\([0-9]*\)/.*,\1,'
}

# Kills all processes that run furlong. All are stopped first: a janitor that dies after its supervisor may have removed
# everything by then.
kill_all() {
    all=$(furlongs)
    kill -STOP $all
    kill -KILL $all
}

# All that is left.
left() {
    ls -A /dev/shm | sed 's,^,/dev/shm/,'
    ls -A queues | sed 's,^,queue ,'
    ls -A "$here/tmp" | sed 's,^,folder ,'
    for kind in shm msg sem; do tail -n +2 /proc/sysvipc/$kind | sed "s,^,System V $kind ,"; done
    furlongs | sed 's,^,process ,'
}

# Waits until nothing is left, or says what is.
nothing_left() {
    tries=0
    while [ -n "$(left)" ]; do
        tries=$((tries + 1))
        if [ $tries -gt 100 ]; then left | sed "s,^,bad: left: ,"; return; fi
        sleep 0.05
    done
}

# Makes a control group of the controller $1 for this cell, whose folder is then $group, and ends the cell where none can be
# made. What is in it must have ended when the cell ends.
make_group() {
    for base in "/sys/fs/cgroup/$1" /sys/fs/cgroup; do
        group=$base/${here##*/}
        if mkdir "$group" 2> group.err; then
            if [ -e "$group/$2" ] || [ -e "$group/$3" ]; then return; fi
            rmdir "$group"
        fi
    done
    echo "not triable: no control group of $1 can be made: $(cat group.err)"
    exit
}

# Removes it, which it takes a moment for what has ended in it to be gone.
remove_group() {
    tries=0
    until rmdir "$group" 2> group.err; do
        tries=$((tries + 1))
        if [ $tries -gt 100 ]; then echo "bad: left: $group: $(cat group.err)"; return; fi
        sleep 0.05
    done
}

# Runs a command in that group.
in_group() { sh -c 'echo $$ > "$0/cgroup.procs"; exec "$@"' "$group" "$@"; }

# Runs a command, which must end with one of the codes in $1 within half a minute, without a panic.
expect() {
    codes=$1
    shift
    timeout -s KILL 30 "$@" > said 2>&1
    code=$?
    case " $codes " in
        *" $code "*) ;;
        *) echo "bad: exit code $code, not $codes: $*: $(tail -c 300 said | tr '\n' ' ')" ;;
    esac
    if grep -aq "panicked at\|RUST_BACKTRACE" said; then echo "bad: panic: $*: $(tail -c 300 said | tr '\n' ' ')"; fi
}

# Fails unless the last output has these words.
says() {
    tr '\n' ' ' < said | tr -s ' ' | grep -qF -- "$1" || echo "bad: '$1' is not said: $(tail -c 300 said | tr '\n' ' ')"
}

# Every $1-th call that a command makes, each as NAME:N, the N-th call of that name in its process: strace counts so. What
# follows are options of strace and the command; with -f the calls of all its processes.
points() {
    step=$1
    shift
    strace -qq -o points.trace "$@" > said 2>&1
    sed -E 's/^([0-9]+ +)?([a-z0-9_]+)\(.*/\1 \2/; t; d' points.trace |
        awk '{ print $NF ":" ++number[$0] }' | awk '!seen[$0]++' | awk -v step="$step" '(NR - 1) % step == 0'
}
