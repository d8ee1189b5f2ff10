# Inherited descriptors, blocked signals, stops, and unexpected signals.
short="--trials 1 --budget 2ms --warm-up 100us --no-save --no-progress"
cat > descriptors.py <<'END'
import os, sys
for number in range(500):
    os.set_inheritable(os.open("/", os.O_RDONLY), True)
os.execvp(sys.argv[1], sys.argv[1:])
END
expect 0 python3 descriptors.py "$FURLONG" run pipe posix-shm unix-stream $short
expect 0 env --block-signal "$FURLONG" run pipe posix-shm signal $short
nothing_left
# Like Ctrl-Z and fg: the whole process group is stopped and continued.
setsid "$FURLONG" run pipe posix-shm --trials 6 --budget 50ms --no-save --no-progress > said 2>&1 &
run=$!
sleep 0.3
kill -TSTP -$run
sleep 1
kill -CONT -$run
wait $run
code=$?
[ $code = 0 ] || echo "bad: exit code $code after a stop: $(tail -c 300 said)"
nothing_left
# Unexpected signals.
for signal in USR1 USR2 ALRM XCPU PWR 64 TRAP ILL PIPE WINCH; do
    "$FURLONG" run pipe posix-shm --trials 4 --budget 50ms --no-save --no-progress > said 2>&1 &
    run=$!
    sleep 0.2
    kill -$signal $run
    wait $run
    code=$?
    [ $code = 0 ] || [ $code -gt 128 ] || echo "bad: exit code $code after $signal: $(tail -c 300 said)"
    nothing_left
done
