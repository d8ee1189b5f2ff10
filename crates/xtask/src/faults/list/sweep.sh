# Each call of a run, one after the other. WHOSE: the supervisor's calls, or those of the processes that it starts, where the
# N-th call of a name is hit in whichever process makes so many. What the loader and the runtime of the language call first is
# left out: no line of furlong's has run by then.
rows="fifo unix-stream sysv-mq posix-shm"
short="--trials 1 --budget 50us --warm-up 10us --no-save --no-progress --format json"
# With a filter, strace stops a process only at the call that is hit. It has one only for all processes.
[ "$WHOSE" = children ] && follow='-f --seccomp-bpf' || follow=
strace -ff -qq -o points "$FURLONG" run $rows $short > said 2>&1

# How often the loader and the runtime make each call, NAME:N: what hits that part of any process is left out.
awk '
    FNR == 1 { own = !/^execve/; split("", number) }
    own || !/^[a-z0-9_]+\(/ { next }
    {
        name = $0; sub(/\(.*/, "", name); number[name]++
        if (number[name] > most[name]) most[name] = number[name]
        own = name == "sigaltstack" && number[name] == 2
    }
    END { for (name in most) print name ":" most[name] }' points.* > begun

# NAME:N of each call, $1 of each process at most.
calls() {
    for file in $(ls points.* | sort -t . -k 2 -n); do
        if grep -q '^execve.*"run"' "$file"; then of=supervisor; else of=children; fi
        [ $of = "$WHOSE" ] || continue
        awk -v most="$1" '
            NR == 1 { own = !/^execve/ }
            !/^[a-z0-9_]+\(/ { next }
            { name = $0; sub(/\(.*/, "", name); number[name]++ }
            own && name !~ /^(exit|exit_group|rt_sigreturn)$/ && given++ < most { print name ":" number[name] }
            # The runtime is done when it has given its handlers a stack.
            name == "sigaltstack" && number[name] == 2 { own = 1 }' "$file"
    done | awk -F : 'NR == FNR { begun[$1] = $2; next } $2 > begun[$1] + 0 && !seen[$0]++' begun -
}

# Hits the call of $1, NAME:N, with $2, and looks at what comes of it.
hit() {
    call=${1%:*}
    expect "$3" strace $follow -qq -o trace -e trace="$call" -e inject="$call:$2:when=${1#*:}" "$FURLONG" run $rows $short
    # A cleanup process may still be at work.
    tries=0
    while [ -n "$(left)" ] && [ $tries -lt 44 ]; do tries=$((tries + 1)); sleep 0.05; done
    [ $tries -lt 44 ] || expect 0 "$FURLONG" doctor --clean
    nothing_left
}

# What a call may answer, as its page of the manual says, without what would mean a mistake in its arguments.
errors() {
    case $1 in
        openat) echo EACCES EINTR EMFILE ENOENT ENOMEM ENOSPC EROFS ;;
        read | pread64 | readv) echo EINTR EAGAIN EIO ;;
        write | pwrite64 | writev) echo EINTR EAGAIN EIO ENOSPC EPIPE ;;
        sendto | sendmsg) echo EINTR EAGAIN ENOBUFS ENOMEM EPIPE ;;
        recvfrom | recvmsg) echo EINTR EAGAIN ENOMEM ECONNRESET ;;
        poll | ppoll | waitid | wait4 | futex | clock_nanosleep) echo EINTR ;;
        flock) echo EINTR ENOLCK ;;
        mmap | mprotect | mremap | madvise | sched_setaffinity) echo ENOMEM EPERM ;;
        socket | socketpair | pipe | pipe2 | eventfd2 | epoll_create1 | dup | dup2 | dup3 | fcntl) echo EMFILE ENFILE ENOMEM ;;
        memfd_create | pidfd_open | pidfd_getfd | userfaultfd) echo EMFILE ENOMEM ENOSYS EPERM ;;
        mkdir | mkdirat | mknod | mknodat | symlink) echo EACCES EEXIST ENOSPC EROFS ;;
        unlink | unlinkat | rmdir) echo EACCES EBUSY EIO EROFS ;;
        ftruncate | fallocate) echo EINTR EIO ENOSPC ;;
        clone | clone3 | fork | vfork | unshare | setns) echo EAGAIN ENOMEM EPERM ;;
        execve) echo EACCES ENOENT ENOMEM ;;
        shmget | shmat | msgget | semget) echo EACCES ENOMEM ENOSPC ;;
        # The kernel answers brk with where the end is, and never with an error.
        brk | close | munmap | rt_sig* | sigaltstack | getpid | gettid | getppid | getuid | geteuid | set_robust_list | set_tid_address | rseq | arch_prctl | restart_syscall) ;;
        *) echo EPERM ENOSYS ;;
    esac
}
