# SPDX-License-Identifier: GPL-2.0
# The scripts' harness, as tap.h is the programs'. A script sets CASES to the names
# of its functions and sources this file last. Each case is a shell of its own with
# "set -e": the first command that fails ends it, and so does the watchdog.
#
#	same WHAT GOT WANTED	fails unless both texts are the same
#	fail TEXT, skip TEXT	ends the case

SECONDS_MAX=90
HERE=$(dirname "$0")

fail()
{
	echo "# $*"
	exit 1
}

skip()
{
	echo "SKIP $*" >"/tmp/furlong-skip"
	exit 77
}

same()
{
	[ "$2" = "$3" ] || fail "$1: '$2', not '$3'"
}

# Waits until a command succeeds; the watchdog ends it.
until_true()
{
	until "$@"; do
		usleep 10000
	done
}

# Waits until a process sleeps in a system call of this number.
blocked()
{
	until_true grep -q "^$2 " "/proc/$1/syscall"
}

run_all()
{
	local number=0 failed=0 code
	mkdir -p /tmp
	set -- ${*:-$CASES}
	echo "1..$#"
	for name in "$@"; do
		number=$((number + 1))
		rm -f /tmp/furlong-skip
		# In a session of its own, so that all it started goes with it.
		setsid timeout -s KILL $SECONDS_MAX sh "$0" --case "$name" &
		code=0
		wait $! || code=$?
		kill -KILL -$! 2>/dev/null
		if [ $code = 77 ]; then
			echo "ok $number - $name # $(cat /tmp/furlong-skip)"
		elif [ $code = 0 ]; then
			echo "ok $number - $name"
		else
			[ $code = 1 ] || echo "# exit status $code"
			echo "not ok $number - $name"
			failed=1
		fi
		if type cleanup >/dev/null 2>&1; then
			cleanup
		fi
	done
	return $failed
}

if [ "$1" = --case ]; then
	set -e
	"$2"
	exit 0
fi
run_all "$@"
