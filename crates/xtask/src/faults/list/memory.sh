# The kernel kills for lack of memory, in a group of few MiB: roles, and never who watches them.
make_group memory memory.limit_in_bytes memory.max
for limit in 16777216 33554432 67108864 134217728; do
    if [ -e "$group/memory.max" ]; then echo $limit > "$group/memory.max"; else echo $limit > "$group/memory.limit_in_bytes"; fi
    in_group "$FURLONG" run pipe posix-shm/futex -s 1 -s 64MiB --trials 1 --budget 2ms --no-save --no-progress --format json > stdout 2> stderr
    code=$?
    [ $code = 0 ] || [ $code = 1 ] || echo "bad: $limit bytes: exit code $code: $(tail -c 300 stderr)"
    [ "$(grep -c '"status": "measured"' stdout)" -ge 2 ] || echo "bad: $limit bytes: messages of a byte are not measured: $(grep '"reason"' stdout | tr -d '\n')"
    if grep '"reason"' stdout | grep -v 'memory was short\|are available\|allocate memory' > other; then echo "bad: $limit bytes: $(cat other)"; fi
    nothing_left
done
remove_group
