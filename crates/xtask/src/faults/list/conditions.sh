# Each inherited condition is in the record, and doctor judges it.
judged() {
    expect 0 $1 "$FURLONG" run pipe posix-shm --trials 1 --budget 2ms --no-progress --save run --replace
    grep -q "$2" data/furlong/runs/run.jsonl || echo "bad: $1: no $2 in the record"
    expect 0 $1 "$FURLONG" doctor
    says "$3"
}
judged 'chrt -i 0' '"policy":"idle"' 'Scheduling policy idle'
judged 'chrt -b 0' '"policy":"batch"' 'Scheduling policy batch'
judged 'nice -n 19' '"nice":19' 'Nice value 19'
judged 'prlimit --cpu=100:100' '"RLIMIT_CPU","100"' 'RLIMIT_CPU 100'
for policy in '-f 1' '-r 50' '-R -f 10'; do
    if chrt $policy true 2> chrt.err; then judged "chrt $policy" '"policy":"[fr]' 'Scheduling policy'; fi
done
cat > prctl.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None)
for call in sys.argv[1].split(","):
    libc.prctl(*(int(number) for number in call.split(":")), 0, 0, 0)
os.execvp(sys.argv[2], sys.argv[2:])
END
# PR_SET_TIMERSLACK, PR_SET_THP_DISABLE, PR_SET_MDWE, PR_SET_CHILD_SUBREAPER
judged 'python3 prctl.py 29:100000000' '"timer_slack_ns":100000000' 'Timer slack 100 ms'
judged 'python3 prctl.py 41:1' '"huge_pages_disabled":true' 'PR_SET_THP_DISABLE'
judged 'python3 prctl.py 65:1,36:1' '"policy"' 'fit to measure'
nothing_left
