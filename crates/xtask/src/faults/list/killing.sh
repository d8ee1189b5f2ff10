# A filter that kills the caller of a system call, like SystemCallFilter= of systemd. Rows that need the call report it.
case $(uname -m) in
    x86_64) calls='278:vmsplice 425:io-uring-pipe 310:process-vm 298:-' ;;
    aarch64) calls='75:vmsplice 425:io-uring-pipe 270:process-vm 241:-' ;;
    *) echo 'not triable: the numbers of the calls are not known'; exit ;;
esac
killing="python3 $ROOT/crates/xtask/src/faults/list/killing.py"
for call in $calls; do
    number=${call%:*} row=${call#*:}
    expect 0 $killing $number "$FURLONG" list
    expect 0 $killing $number "$FURLONG" doctor
    [ $row = - ] && row=fifo
    expect '0 7' $killing $number "$FURLONG" run $row pipe --trials 1 --budget 2ms --no-save --no-progress --format json
    [ "$(grep -c '"status": "measured"' said)" -ge 1 ] || echo "bad: $call: the pipe is not measured: $(tail -c 300 said)"
done
nothing_left
