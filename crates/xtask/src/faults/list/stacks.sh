# No verb overflows a small stack.
short="--trials 1 --budget 2ms --warm-up 100us --no-progress"
for bytes in 131072 163840 1048576; do
    small="prlimit --stack=$bytes:$bytes $FURLONG"
    rm -rf data
    expect 0 $small run pipe posix-shm unix-stream $short --save run
    for words in --version --help list 'list --format json' 'runs show run' 'export run' 'report run -o page.html' 'compare run run' doctor 'man run' \
        'completions bash' 'adapter list'; do
        expect '0 1' $small $words
    done
    nothing_left
done
