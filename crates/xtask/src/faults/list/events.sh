# The events of two own programs arrive in every order. The run ends in time, and the timeout is never printed as a time.
step() {
    case $1 in
        ready) echo 'echo ready;' ;;
        done) echo 'echo done 5;' ;;
        text) echo 'echo text;' ;;
        torn) echo 'printf "ready\nmore";' ;;
        close) echo 'exec >&-;' ;;
        sleep) echo 'sleep 0.02;' ;;
        end) echo 'exit 0;' ;;
        fail) echo 'exit 3;' ;;
        killed) echo 'kill -KILL $$;' ;;
    esac
}
steps='ready done text torn close sleep end fail killed'
for first in $steps; do
    for second in $steps; do
        program="$(step $first) $(step $second)"
        expect '0 1' "$FURLONG" run --program 'echo ready; sleep 1000' --program "$program" --trials 1 --timeout 400ms --no-save --no-progress --format json
        if grep -q '"p50": 4[0-9]\{8\}' said; then echo "bad: $first, $second: the timeout is printed as a time"; fi
    done
done
nothing_left
