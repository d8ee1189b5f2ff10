# The error of each exceeded kernel limit names the limit, its value and a remedy.
short="--trials 1 --budget 2ms --warm-up 100us --no-save --no-progress --format json"
expect 0 sh -c "prlimit --fsize=1000:1000 \"\$FURLONG\" run pipe $short | cat"
says 'RLIMIT_FSIZE is 1000'
says 'ulimit -f'
expect 0 prlimit --sigpending=1:1 "$FURLONG" run signal pipe $short
says 'RLIMIT_SIGPENDING is 1'
expect 0 prlimit --nofile=100:100 "$FURLONG" run pipe -m ready --links 64 $short
says 'RLIMIT_NOFILE'
expect 7 "$FURLONG" run unix-stream --socket-buffer 1GiB $short
says 'ask for a smaller buffer'
if grep -q 'seccomp profile' said; then echo 'bad: a filter is blamed for the buffer of a socket'; fi
for limit in cpu=1:2 data=20971520 locks=0 rttime=2000 msgqueue=1 nproc=3; do
    expect '0 1 7' prlimit --$limit "$FURLONG" run pipe posix-shm posix-mq $short
done
for limit in epoll_ctl:ENOSPC:pipe/epoll:fs.epoll.max_user_watches inotify_add_watch:ENOSPC:file-shm/inotify:fs.inotify.max_user_watches \
    inotify_init1:EMFILE:file-shm/inotify:fs.inotify.max_user_instances clone:EAGAIN:pipe:'to raise it'; do
    IFS=: read -r call error row words <<END
$limit
END
    expect '1 7' strace -f --seccomp-bpf -qq -o trace -e trace=$call -e inject=$call:error=$error "$FURLONG" run $row $short
    says "$words"
done
nothing_left
