# Another process empties directories while a run measures. Rows that need their files fail with this reason, and the others are measured.
for folder in "$here/tmp" /dev/shm; do
    ( while [ ! -e done ]; do find "$folder" -mindepth 1 -delete 2> find.err; sleep 0.05; done ) &
    emptying=$!
    expect '0 1' "$FURLONG" run pipe memfd-shm/futex unix-stream posix-shm/futex fifo posix-mq --trials 8 --budget 20ms --no-save --no-progress --format json
    : > done
    wait $emptying
    rm done
    [ "$(grep -c '"status": "measured"' said)" -ge 2 ] || echo "bad: $folder was emptied, and too few rows are measured: $(tail -c 300 said)"
    nothing_left
done
