# Unusual environment variables.
short="--trials 1 --budget 2ms --warm-up 100us --no-save --no-progress"
run() { expect "$1" env $2 "$FURLONG" run pipe posix-shm unix-stream $short; }
for odd in TERM=dumb TERM= LC_ALL=C LC_ALL=POSIX LANG=ja_JP.eucJP TZ=:/nope TZ=A99B LD_PRELOAD=/nope.so GLIBC_TUNABLES=glibc.malloc.check=3 \
    MALLOC_PERTURB_=165 RUST_MIN_STACK=1 RUST_MIN_STACK=100000000000000 RUST_BACKTRACE=0 COLUMNS=0 COLUMNS=1 COLUMNS=20 COLUMNS=-5 COLUMNS=1e20 COLUMNS=abc; do
    run 0 $odd
done
expect 0 env -i "$FURLONG" run pipe $short
mkdir -p relative
for folder in relative . '' /proc/self/cwd; do expect 0 env TMPDIR="$folder" "$FURLONG" run pipe unix-stream fifo $short; done
rm -rf relative
saved="--trials 1 --budget 2ms --no-progress --save run"
for folder in relative '' .; do expect 0 env XDG_DATA_HOME="$folder" "$FURLONG" run pipe $saved --replace; done
ln -s loop loop
mkfifo fifo
: > file
for folder in $here/loop $here/fifo $here/file /proc /dev/null /$(printf 'x%.0s' $(seq 4096)); do
    expect '1 2' env XDG_DATA_HOME=$folder "$FURLONG" run pipe $saved
    expect '0 1 2' env XDG_DATA_HOME=$folder "$FURLONG" runs list
done
if command -v script > found; then
    for size in '20 5' '1 1' '0 0' '65535 65535'; do
        set -- $size
        expect 0 script -qec "stty cols $1 rows $2 && \"$FURLONG\" run pipe posix-shm $short" typed
    done
fi
nothing_left
