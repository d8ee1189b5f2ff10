# Runs that are saved at once. $1: the codes that they may end with; then options.
at_once() {
    codes=$1
    shift
    for number in 1 2 3 4 5 6 7 8; do
        {
            timeout -s KILL 60 "$FURLONG" run pipe --trials 1 --budget 2ms --warm-up 100us --no-progress "$@" > said.$number 2>&1
            code=$?
            case " $codes " in *" $code "*) ;; *) echo "bad: exit code $code, not $codes: $(tail -c 300 said.$number | tr '\n' ' ')" ;; esac
            echo $code >> codes
        } &
    done
    wait
    for file in data/furlong/runs/*.jsonl; do
        tail -n 1 "$file" | grep -q '"record":"end"' || echo "bad: $file does not end as a run: $(tail -n 1 "$file" | head -c 100)"
        expect 0 "$FURLONG" export "./$file"
    done
}
runs() {
    found=$(ls data/furlong/runs | wc -l)
    [ "$found" = "$1" ] || echo "bad: $found files of $1 runs"
}
at_once 0
runs 8
at_once 0 --seed 1
runs 16
: > codes
at_once '0 2' --save mine
runs 17
[ "$(grep -c '^0$' codes)" = 1 ] || echo "bad: $(grep -c '^0$' codes) runs were saved under one name"
nothing_left
