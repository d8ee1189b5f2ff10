# A control group with room for few processes. The limit is named, or all benchmarks are measured.
make_group pids pids.max pids.max
for limit in 1 2 3 4 5 6 7 8 9; do
    echo $limit > "$group/pids.max"
    in_group "$FURLONG" run pipe --trials 1 --budget 2ms --no-save --no-progress --format json > said 2>&1
    code=$?
    case $code in
        0) ;;
        1) says "pids.max of the control group is $limit" ;;
        *) echo "bad: $limit processes: exit code $code: $(tail -c 300 said)" ;;
    esac
    nothing_left
done
remove_group
