# Two network namespaces at the ends of a virtual cable: the near end is taken down, or the far one with its namespace's address.
mkdir bin
ln -s "$FURLONG" bin/furlong
export FURLONG PATH="$here/bin:$PATH"
cat > cable << 'END'
unshare --net sleep 300 & far=$!
until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
set -e
ip link set lo up
ip link add near type veth peer name far netns $far
ip address add 10.11.12.1/24 dev near
ip link set near up
there="nsenter -t $far -n"
$there sh -c 'ip link set lo up; ip address add 10.11.12.2/24 dev far; ip link set far up'
set +e
"$FURLONG" run tcp udp --peer "command:$there sh" --peer-address 10.11.12.2 --timeout 1s --trials 500 --save cut --no-progress --format json > stdout 2> stderr &
run=$!
until grep -q '"record":"trial"' data/furlong/runs/cut.jsonl 2> grep.err || ! kill -0 $run 2> kill.err; do sleep 0.01; done
eval "$CUT"
wait $run
echo $? > code
# What is on the other host would hear of the end by the pipe, and not by the cable.
kill $far
END
for CUT in 'ip link set near down' '$there ip link set far down' '$there ip address flush dev far'; do
    export CUT
    rm -f data/furlong/runs/cut.jsonl
    unshare --net sh cable
    [ "$(cat code)" = 1 ] || echo "bad: $CUT: exit code $(cat code): $(tail -c 300 stderr)"
    [ "$(grep -c '"status": "failed"' stdout)" = 2 ] || echo "bad: $CUT: not both rows have failed: $(grep '"reason"' stdout | tr -d '\n')"
    grep -q '"reason": ".* in phase ' stdout || echo "bad: $CUT: no phase is said: $(grep '"reason"' stdout | tr -d '\n')"
    nothing_left
done
