# One supervisor that measures for SECONDS, and whose roles stand still now and then. It prints samples, a line each: seconds,
# KiB and descriptors of the supervisor, KiB and descriptors of its janitor, and bytes of the records so far.
env --default-signal=INT,QUIT "$FURLONG" run $ROWS --trials 10000 --budget 20ms --warm-up 100us --seed "$SEED" --save long --no-progress > table 2> stderr &
run=$!
size() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$1/status; }
open() { ls /proc/$1/fd | wc -l; }
begin=$(date +%s)
janitor=
while kill -0 $run && [ $(($(date +%s) - begin)) -lt "$SECONDS_IN_ALL" ]; do
    sleep 1
    # It is the child that is there from the beginning.
    [ -n "$janitor" ] || janitor=$(furlongs | grep -vx $run | sort -n | head -1)
    for role in $(roles); do
        [ $(($(date +%s) % 7)) = 0 ] && kill -STOP $role && { sleep 0.1; kill -CONT $role; }
        break
    done
    echo "$(($(date +%s) - begin)) $(size $run) $(open $run) $(size "$janitor") $(open "$janitor") $(wc -c < data/furlong/runs/long.jsonl)"
done > stdout 2> sampling.err
kill -INT $run
wait $run
code=$?
echo $code > code
[ $code = 130 ] || echo "bad: the long run ended with $code: $(tail -c 300 stderr)"
nothing_left
