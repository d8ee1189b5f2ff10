#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The first process of the guest. Makes what programs expect of a system, runs what FURLONG_GUEST on the
# kernel's command line says, writes it all to the second serial port, and ends the machine.
#
# There, everything that is run is a section: "# suite NAME", what it printed, "# exit CODE".

# No suite may take longer, in the guest's own seconds; a kernel that watches all takes its time.
LIMIT=400
[ "$FURLONG_GUEST" = debug ] && LIMIT=600

/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root TMPDIR=/tmp XDG_DATA_HOME=/tmp/data NO_COLOR=1
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing
ip link set lo up
cd /t || exit 1

# Not raw, a serial port would change the ends of lines.
stty -F /dev/ttyS1 raw -echo
exec 3>/dev/ttyS1
echo "# booted" >&3

# Where in the kernel every process is, for a suite that hangs.
stacks() {
	echo "# no end after $LIMIT seconds"
	for task in /proc/[0-9]*; do
		# Of the kernel's own threads there is no program.
		[ -e "$task/exe" ] && sed 's/^/# /' "$task/comm" "$task/stack"
	done
}

# section NAME COMMAND...: runs one, ends it when it takes too long, and ends all that it left running.
section() {
	echo "# suite $1" >&3
	shift
	"$@" >&3 2>&1 3>&- </dev/null &
	running=$!
	(sleep $LIMIT; stacks >&3; kill -KILL $running) &
	wait $running
	code=$?
	kill -KILL -1
	# Their deaths may interrupt what is being written.
	printf '\n# exit %s\n' $code >&3 || printf '\n# exit %s\n' $code >&3
}

# check NAME COMMAND...: one case of the suite that asks.
cases=0
check() {
	name=$1
	shift
	cases=$((cases + 1))
	said=$("$@" 2>&1)
	result=$?
	[ -z "$said" ] || echo "$said" | sed 's/^/# /'
	if [ $result = 0 ]; then
		echo "ok $cases - $name"
	else
		echo "not ok $cases - $name"
	fi
}

no_nodes() {
	for node in /dev/furlong-*; do
		[ -e "$node" ] && echo "$node" && return 1
	done
	return 0
}

unload() {
	# Processes that were just killed may still be closing what they had.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rmmod furlong 2>/dev/null && return 0
		sleep 0.2
	done
	rmmod furlong
}

# Out of tree and not signed, and nothing else: 1 << 12 and 1 << 13.
taint() {
	# Not read: that takes one byte at a time, and this file gives the first alone.
	taint=$(cat /proc/sys/kernel/tainted)
	echo "$taint"
	[ $((taint & ~12288)) = 0 ]
}

loaded() {
	check "the module loads as it is" insmod /t/furlong.ko
	check "it makes its devices" ls /dev/furlong-message0 /dev/furlong-shm0
	echo "1..$cases"
}

unloaded() {
	check "the module unloads after all tests" unload
	check "it takes its devices along" no_nodes
	check "the kernel is tainted by nothing else than a module from outside" taint
	echo "1..$cases"
}

# What furlong's own tests find of the driver's rows, as TAP. Without those that count system calls, because
# here reading the time is one, and without requests and several messages under way, which add little and take long.
conformance() {
	# Cases of three pairs take six channels, and others run beside them.
	unload && insmod /t/furlong.ko channels=16 || return
	/t/conformance --color never --include-ignored --skip "calls what it declares" --skip "answers requests" --skip "keeps messages outstanding" driver- 2>&1 | awk '
		/^test .* \.\.\. ok$/ { verdict = "ok" }
		/^test .* \.\.\. FAILED$/ { verdict = "not ok" }
		verdict {
			sub(/^test /, ""); sub(/ *\.\.\. [a-zA-Z]+$/, "")
			print verdict " " ++n " - " $0
			verdict = ""
			next
		}
		/^test result: ok/ { well = 1 }
		{ print "# " $0 }
		END { print "1.." n + 0; exit !well }'
}

# With the trials always in the same order, because the guest repeats itself otherwise too.
measure() {
	/t/furlong replay "$@" --seed 1 --no-save --no-progress
}

case $FURLONG_GUEST in
test | debug)
	# It loads and unloads the module itself.
	section module.sh sh ./module.sh
	section load loaded
	while read -r name; do
		case $FURLONG_GUEST:$name in
		*:'#'* | *: | *:module.sh) ;;
		# The kernel keeps what was freed, to see who uses it, so only it can tell what is lost.
		debug:leak) section "$name" "./$name" kmemleak ;;
		*.sh) section "$name" sh "./$name" ;;
		*) section "$name" "./$name" ;;
		esac
	done <suites
	[ $FURLONG_GUEST = test ] && section conformance conformance
	section unload unloaded
	;;
speed)
	section load loaded
	section replay measure ka2yan-2008 --trials 1
	# Otherwise a round trip has two ways to go, which differ by a tenth: whoever is woken goes first or
	# not, depending on who has run for how long.
	echo NO_WAKEUP_PREEMPTION >/sys/kernel/debug/sched/features
	for experiment in messages spin; do
		section $experiment.json measure ./$experiment.toml --format json
	done
	;;
esac

# What is still in the port's buffer goes out before it is closed.
exec 3>&-
./guest-exit 16
# Only where that did not work: the first process may not end.
poweroff -f
