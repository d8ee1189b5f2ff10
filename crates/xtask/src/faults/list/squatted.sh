# What is random is always the same here, so every name is known beforehand, and taken: the row says so, another one is
# measured, and what stands there is neither opened nor followed. It may be removed, as all that has such a name: who has taken
# it, has seen the name in the folder for temporary files.
known=0101010101010101
measure() {
    strace -f --seccomp-bpf -qq -o trace -e trace=getrandom -e inject=getrandom:poke_exit=@arg1=$known "$FURLONG" run "$@" pipe --trials 1 --budget 2ms --warm-up 100us --no-save --no-progress --format json > stdout 2> stderr
    code=$?
}
# The row $1 of which a name is taken; the run ends with $2.
taken() {
    measure "$1"
    [ $code = "$2" ] || echo "bad: $1: exit code $code, not $2: $(grep '"reason"' stdout | tr -d '\n') $(tail -c 300 stderr)"
    grep -q 'File exists' stdout || echo "bad: $1: it does not say that the name is taken: $(grep '"reason"' stdout | tr -d '\n')"
    grep -q '"status": "measured"' stdout || echo "bad: $1: the other row is not measured: $(tail -c 300 stderr)"
}
echo mine > mine
mkdir folder

# By a file, by a link to one, and by a queue.
for how in 'cp mine' "ln -s $here/mine"; do
    $how /dev/shm/furlong-$known-0
    taken posix-shm 1
    rm -f /dev/shm/furlong-$known-0
done
touch queues/furlong-$known-0-there
taken posix-mq 1
rm -f queues/furlong-$known-0-there

# Where the folder itself is taken, nothing has a place.
for how in mkdir "ln -s $here/folder"; do
    $how tmp/furlong-$known
    measure posix-shm
    [ $code = 1 ] || echo "bad: a folder that is taken: exit code $code"
    grep -q 'File exists' stderr || echo "bad: a folder that is taken: $(tail -c 300 stderr)"
    if [ ! -e tmp/furlong-$known ] || [ -n "$(ls -A tmp/furlong-$known)" ]; then echo 'bad: a folder that is taken: it is gone, or something is in it'; fi
    rm -rf tmp/furlong-$known
done
[ "$(cat mine)" = mine ] || echo 'bad: a link was followed'
nothing_left
