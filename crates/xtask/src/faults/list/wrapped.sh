# PIDs are reused while a run measures.
if ! echo 320 2> pid.err > /proc/sys/kernel/pid_max; then echo 'not triable: this kernel has no pid_max for each namespace'; exit; fi
expect '0 1' "$FURLONG" run pipe posix-shm/futex unix-stream signal --trials 40 --budget 1ms --warm-up 100us --no-save --no-progress --format json
[ "$(grep -c '"status": "measured"' said)" = 4 ] || echo "bad: not all benchmarks are measured: $(tail -c 300 said)"
nothing_left
