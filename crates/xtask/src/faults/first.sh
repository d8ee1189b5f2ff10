# The seed with which the row that is disturbed is measured first, with all its parties: which one is, is drawn by the seed.
seed=0
until [ "${first-}" = "\"mechanism\":\"${ROW%/*}\" $PARTIES" ]; do
    seed=$((seed + 1))
    HELD=none pair --warm-up 100us --budget 2ms --seed $seed --save order --replace > order 2>&1
    trial=$(sed -n '/^{"record":"trial"/{p;q}' data/furlong/runs/order.jsonl)
    first="$(echo "$trial" | grep -o '"mechanism":"[^"]*"' | head -1) $(echo "$trial" | sed -n 's/.*"parties":\([0-9]*\).*/\1/p')"
    if [ $seed -gt 50 ]; then echo "bad: the row was never the first: $(tail -c 300 order)"; exit; fi
done
echo "$seed" > stdout
