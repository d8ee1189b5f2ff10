# The limits of an IPC namespace have their minimum. Rows that exceed a limit report it.
set_limit() { echo "$2" 2> limit.err > "/proc/sys/$1"; }
if ! set_limit kernel/msgmax 64; then echo 'not triable: limits of an IPC namespace cannot be set here'; exit; fi
for value in 0 1 64 128; do
    for limit in kernel/msgmax kernel/msgmnb kernel/shmmax kernel/shmmni fs/mqueue/msg_max fs/mqueue/msgsize_max fs/mqueue/queues_max; do
        before=$(cat /proc/sys/$limit)
        set_limit $limit $value || continue
        expect '0 1 7' "$FURLONG" run posix-mq sysv-mq sysv-shm pipe --trials 1 --budget 2ms --warm-up 100us --no-save --no-progress --format json
        [ "$(grep -c '"status": "measured"' said)" -ge 1 ] || echo "bad: $limit is $value, and the pipe is not measured: $(tail -c 300 said)"
        set_limit $limit "$before"
    done
done
nothing_left
