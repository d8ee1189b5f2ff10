# One round of the soak: a random run, and something that happens to it. All is chosen outside: BEFORE is put before the
# run's words, HIT is done to the process number PICK of all that there are, after DELAY, for PAUSE.
env --default-signal=INT,QUIT $BEFORE "$FURLONG" run $ROWS $OPTIONS --no-save --no-progress --format json > stdout 2> stderr &
run=$!
sleep "$DELAY"
set -- $(furlongs)
shift $((PICK % ($# + 1)))
one=${1:-$run}
case $HIT in
    nothing) ;;
    kill) kill -KILL "$one" ;;
    pause) kill -STOP "$one"; sleep "$PAUSE"; kill -CONT "$one" ;;
    pause-all)
        all=$(furlongs)
        # One that has just ended is no reason to leave the others stopped.
        kill -STOP $all
        sleep "$PAUSE"
        kill -CONT $all
        ;;
    kill-all) kill_all ;;
    twice) kill -INT $run; sleep "$PAUSE"; kill -INT $run ;;
    *) kill -"$HIT" $run ;;
esac 2> hit.err
wait $run
code=$?
echo $code > code
# A call that kills a run kills its janitor as well where that makes it as often.
case "$HIT $BEFORE" in
    kill-all* | *signal=KILL*)
        if [ -n "$(left)" ]; then
            sleep 2.2
            expect 0 "$FURLONG" doctor --clean
        fi
        ;;
esac
nothing_left
