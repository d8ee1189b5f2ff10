# The smallest and largest amounts that the options accept.
for words in '--budget 1ns' '--timeout 1ns' '--trials 500 --budget 1us' '-m one-way --rate 10M/s' '-m one-way --window 1' '-s 1GiB --budget 1ms --timeout 2s' '--warm-up 1ns' '--pipe-size 1GiB' '--pipe-size 1'; do
    expect '0 1 2 7' timeout -k 5 20 "$FURLONG" run pipe posix-shm/futex --trials 1 --budget 2ms $words --no-save --no-progress
    nothing_left
done
for words in '--think-time 60min' '--warm-up 60min' '--budget 60min' '--across 60min'; do
    # A shell starts background jobs with SIGINT ignored.
    env --default-signal=INT "$FURLONG" run pipe --trials 1 $words --no-save --no-progress > said 2>&1 &
    run=$!
    sleep 0.3
    kill -INT $run
    tries=0
    while kill -0 $run 2> kill.err && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
    [ $tries -lt 100 ] || echo "bad: $words: it goes on after an interrupt"
    nothing_left
done
