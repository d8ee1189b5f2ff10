#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The module: its parameters, its nodes, loading, unloading and what stays behind,
# and the tracepoints. It is not loaded before this, and not after.

CASES="loads_and_unloads_ten_times nodes_come_and_go bad_parameters \
parameters_are_kept parameters_take_effect not_removed_while_open \
removed_after_opener_is_killed not_removed_while_mapped memory_is_zeroed_after_reload \
queues_are_empty_after_reload nothing_in_vmalloc_after_unload \
no_memory_is_lost traces_are_off_at_first traces_show_messages traces_show_bells \
traces_show_bytes_when_asked log_bytes_has_a_limit kernel_log_is_clean"

MODULE=$HERE/furlong.ko
PARAMETERS=/sys/module/furlong/parameters
TRACING=/sys/kernel/tracing

load()
{
	insmod "$(dirname "$0")/furlong.ko" "$@"
}

cleanup()
{
	[ -e /sys/module/furlong ] || return 0
	# It may still be in use by what was just killed.
	for i in 1 2 3 4 5 6 7 8 9 10; do
		rmmod furlong 2>/dev/null && return 0
		usleep 200000
	done
	echo "# the module stays loaded"
}

nodes()
{
	ls /dev | grep -c '^furlong-' || true
}

loads_and_unloads_ten_times()
{
	for i in 1 2 3 4 5 6 7 8 9 10; do
		load channels=16
		same "nodes when loaded" "$(nodes)" 32
		echo $i >/dev/furlong-message15
		rmmod furlong
		same "nodes when unloaded" "$(nodes)" 0
	done
	[ ! -e /sys/module/furlong ] || fail "still in /sys/module"
	! ls /sys/class/misc | grep -q furlong || fail "still in /sys/class/misc"
	! grep -q furlong /proc/misc || fail "still in /proc/misc"
}

nodes_come_and_go()
{
	same "nodes before" "$(nodes)" 0
	load
	for i in 0 1 2 3; do
		for kind in message shm; do
			node=/dev/furlong-$kind$i
			[ -c $node ] || fail "$node is no character device"
			same "mode of $node" "$(stat -c '%a %u %g' $node)" "660 0 0"
			same "major of $node" "$(stat -c %t $node)" a
		done
	done
	same "nodes" "$(nodes)" 8
	rmmod furlong
	same "nodes after" "$(nodes)" 0
	load channels=1
	same "nodes of one channel" "$(nodes)" 2
}

# A set of parameters that is refused, with EINVAL, and leaves nothing.
refused()
{
	if text=$(load "$@" 2>&1); then
		fail "loaded with $*"
	fi
	case $text in
	*"nvalid argument"* | *"nvalid parameter"* | *"nvalid module"*) ;;
	*) fail "$*: $text" ;;
	esac
	same "nodes after $*" "$(nodes)" 0
	[ ! -e /sys/module/furlong ] || fail "loaded after $*"
}

bad_parameters()
{
	refused channels=0
	refused channels=17
	refused channels=-1
	refused channels=x
	refused message_depth=0
	refused message_depth=65537
	refused message_size=0
	refused message_size=1048577
	refused message_size=-1
	refused shm_size=0
	refused shm_size=67108865
	refused memory_max=0
	refused memory_max=4095
	refused log_bytes=65
	refused log_bytes=-1
	# All of them together are too much.
	refused message_depth=65536 message_size=8192
	refused channels=16 shm_size=8388608
	refused channels=16 memory_max=16777216
	# Sums that must not wrap.
	refused channels=16 shm_size=1152921504606846976 \
		memory_max=18446744073709551615
	refused shm_size=18446744073709551615 memory_max=18446744073709551615
	refused shm_size=18446744073709547521 memory_max=18446744073709551615
	# And after all that it loads.
	load
	echo works >/dev/furlong-message0
}

parameters_are_kept()
{
	load
	for i in channels=4 message_depth=64 message_size=8192 shm_size=1048576 \
		memory_max=67108864 log_bytes=0; do
		same "${i%=*}" "$(cat $PARAMETERS/${i%=*})" "${i#*=}"
	done
	for i in channels message_depth message_size shm_size memory_max; do
		same "mode of $i" "$(stat -c %a $PARAMETERS/$i)" 444
	done
	same "mode of log_bytes" "$(stat -c %a $PARAMETERS/log_bytes)" 644
}

parameters_take_effect()
{
	load channels=2 message_depth=3 message_size=10 shm_size=5000
	same "nodes" "$(nodes)" 4
	same "depth" "$(cat /sys/class/misc/furlong-message1/depth)" 3
	same "size" "$(cat /sys/class/misc/furlong-message1/size)" 10
	same "region" "$(cat /sys/class/misc/furlong-shm1/size)" 8192
	echo 123456789 >/dev/furlong-message1
	if echo 1234567890 2>/dev/null >/dev/furlong-message1; then
		fail "sent more than message_size"
	fi
	rmmod furlong
	# The largest of each.
	load channels=16 message_depth=65536 message_size=1 shm_size=1
	rmmod furlong
	load channels=1 message_depth=32 message_size=1048576 shm_size=33554432
	rmmod furlong
	load channels=1 message_depth=1 message_size=1 shm_size=4096 memory_max=4097
	if rmmod furlong && load channels=1 message_depth=1 message_size=2 \
		shm_size=4096 memory_max=4097 2>/dev/null; then
		fail "loaded with one byte too much"
	fi
}

cannot_be_removed()
{
	if rmmod furlong 2>/dev/null; then
		fail "removed although $*"
	fi
}

not_removed_while_open()
{
	load
	exec 3</dev/furlong-message2
	cannot_be_removed "a message device is open"
	exec 3<&-
	exec 3<>/dev/furlong-shm3
	cannot_be_removed "a shared-memory device is open"
	exec 3<&-
	rmmod furlong
}

removed_after_opener_is_killed()
{
	load
	read -r line </dev/furlong-message0 &
	pid=$!
	until_true grep -qE '^(0|7) ' /proc/$pid/syscall
	cannot_be_removed "somebody reads"
	kill -9 $pid
	wait $pid 2>/dev/null || true
	until_true rmmod furlong 2>/dev/null
}

not_removed_while_mapped()
{
	load
	"$HERE/tool" hold 0 >/tmp/furlong-ready &
	pid=$!
	until_true grep -q ready /tmp/furlong-ready
	cannot_be_removed "a region is mapped"
	kill -9 $pid
	wait $pid 2>/dev/null || true
	until_true rmmod furlong 2>/dev/null
}

memory_is_zeroed_after_reload()
{
	for i in 1 2 3; do
		load
		"$HERE/tool" zero 0
		"$HERE/tool" fill 0
		rmmod furlong
	done
}

queues_are_empty_after_reload()
{
	load
	echo left >/dev/furlong-message0
	same "queued" "$(cat /sys/class/misc/furlong-message0/queued)" 1
	rmmod furlong
	load
	for i in queued sent received discarded openers; do
		same "$i" "$(cat /sys/class/misc/furlong-message0/$i)" 0
	done
}

nothing_in_vmalloc_after_unload()
{
	load
	"$HERE/tool" use 4
	rmmod furlong
	! grep furlong /proc/vmallocinfo || fail "memory in /proc/vmallocinfo"
	! grep furlong /proc/modules || fail "in /proc/modules"
	! grep furlong /proc/slabinfo || fail "a cache in /proc/slabinfo"
}

round()
{
	load channels=16
	"$HERE/tool" use 16
	rmmod furlong
}

# Kilobytes of the kernel's memory that cannot be had back.
kept()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	usleep 300000
	awk '/^(SUnreclaim|VmallocUsed|Percpu|KernelStack|PageTables):/ { s += $2 }
		END { print s }' /proc/meminfo
}

free_now()
{
	awk '/^MemFree:/ { print $2 }' /proc/meminfo
}

no_memory_is_lost()
{
	# The first rounds fill what the kernel keeps for later.
	round
	round
	kept=$(kept)
	free=$(free_now)
	for i in 1 2 3 4 5 6; do
		round
	done
	grown=$(($(kept) - kept))
	less=$((free - $(free_now)))
	echo "# after 6 rounds: $grown KiB more are kept, $less KiB less are free"
	# One queue is 512 KiB, a region 1 MiB; a round has 16 of each.
	[ $grown -lt 1024 ] || fail "the kernel keeps $grown KiB more"
	[ $less -lt 6144 ] || fail "$less KiB less are free"
}

tracefs()
{
	[ -e $TRACING/events ] || mount -t tracefs tracefs $TRACING 2>/dev/null ||
		skip "no tracefs"
	[ -d $TRACING/events/furlong ] || fail "no events"
	echo >$TRACING/trace
}

trace_lines()
{
	grep -E "(message_send|message_receive|shm_ring):" $TRACING/trace || true
}

# The fields of the only line of a kind: what comes after its name.
traced()
{
	trace_lines | sed -n "s/.*$1: //p" | sed 's/ *$//'
}

traces_are_off_at_first()
{
	load
	tracefs
	for i in message_send message_receive shm_ring; do
		same "$i" "$(cat $TRACING/events/furlong/$i/enable)" 0
	done
	echo quiet >/dev/furlong-message0
	read -r line </dev/furlong-message0
	"$HERE/tool" ring 0 >/dev/null
	same "traces" "$(trace_lines)" ""
}

traces_show_messages()
{
	load
	tracefs
	echo 1 >$TRACING/events/furlong/enable
	echo first >/dev/furlong-message2
	echo second. >/dev/furlong-message2
	"$HERE/tool" receive 2 >/dev/null
	echo 0 >$TRACING/events/furlong/enable
	echo unseen >/dev/furlong-message2
	sent=$(traced message_send)
	same "sent" "$(echo "$sent" | wc -l)" 2
	got=$(traced message_receive)
	one=$(echo "$sent" | head -n 1)
	two=$(echo "$sent" | tail -n 1)
	for line in "$one" "$two" "$got"; do
		case " $line " in
		*" channel=2 "*) ;;
		*) fail "no channel in '$line'" ;;
		esac
	done
	case $one in
	*length=6*) ;;
	*) fail "no length in '$one'" ;;
	esac
	case $two in
	*length=8*) ;;
	*) fail "no length in '$two'" ;;
	esac
	# What was received is what was sent first, by its sequence too.
	same "received" "$got" "$one"
	a=${one##*sequence=}
	b=${two##*sequence=}
	same "second sequence" "${b%% *}" $((${a%% *} + 1))
	# No byte of a message, unless somebody asks for them.
	! trace_lines | grep -qE '66 ?69 ?72 ?73 ?74|first' || fail "bytes: $one"
}

traces_show_bells()
{
	load
	tracefs
	echo 1 >$TRACING/events/furlong/shm_ring/enable
	numbers=$("$HERE/tool" ring 3)
	echo 0 >$TRACING/events/furlong/enable
	same "ring" "$(traced shm_ring)" "channel=3 $numbers"
}

traces_show_bytes_when_asked()
{
	load
	tracefs
	echo 16 >$PARAMETERS/log_bytes
	echo 1 >$TRACING/events/furlong/enable
	printf 'hello' >/dev/furlong-message0
	printf 'abcdefghijklmnopqrstuvwxyz' >/dev/furlong-message0
	"$HERE/tool" receive 0 >/dev/null
	echo 0 >$TRACING/events/furlong/enable
	lines=$(trace_lines | tr -d ' ')
	same "lines of hello" "$(echo "$lines" | grep -c 68656c6c6f)" 2
	# Of a longer message, the first sixteen.
	echo "$lines" | grep -q 6162636465666768696a6b6c6d6e6f70 ||
		fail "no bytes: $lines"
	! echo "$lines" | grep -q 6f7071 || fail "too many bytes: $lines"
}

log_bytes_has_a_limit()
{
	load
	if echo 65 2>/dev/null >$PARAMETERS/log_bytes; then
		fail "log_bytes took 65"
	fi
	same "log_bytes" "$(cat $PARAMETERS/log_bytes)" 0
	echo 64 >$PARAMETERS/log_bytes
	same "log_bytes" "$(cat $PARAMETERS/log_bytes)" 64
	rmmod furlong
	load log_bytes=64
	same "log_bytes" "$(cat $PARAMETERS/log_bytes)" 64
}

kernel_log_is_clean()
{
	! dmesg | grep -E 'BUG|WARNING|Oops|Bad page|general protection|sysfs: cannot|suspected memory leak' ||
		fail "see above"
}

. "$(dirname "$0")/tap.sh"
