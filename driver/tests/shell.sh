#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The message device from a shell, with nothing but a shell's own means.

CASES="echo_and_read read_loop_with_late_writer reads_lines_of_one_message \
rest_goes_between_commands read_with_time_limit blocked_read_gets_later_message \
dd_takes_one_binary_message dd_takes_messages_one_by_one head_takes_one \
append_and_truncate full_queue_makes_echo_wait statistics pipe_through \
two_readers_share binary_bytes_survive"

DEVICE=/dev/furlong-message0
COUNTS=/sys/class/misc/furlong-message0

cleanup()
{
	for i in 0 1 2 3; do
		"$HERE/tool" reset $i
	done
}

echo_and_read()
{
	echo hello >$DEVICE
	read line <$DEVICE
	same "what was read" "$line" hello
	echo "two  words \\ and a backslash" >$DEVICE
	IFS= read -r line <$DEVICE
	same "what was read" "$line" "two  words \\ and a backslash"
}

read_loop_with_late_writer()
{
	(
		for i in 1 2 3 4 5; do
			usleep 20000
			echo "message $i" >$DEVICE
		done
		echo end >$DEVICE
	) &
	all=
	while IFS= read -r line; do
		[ "$line" = end ] && break
		all="$all$line,"
	done <$DEVICE
	same "all lines" "$all" "message 1,message 2,message 3,message 4,message 5,"
	wait
}

reads_lines_of_one_message()
{
	printf 'one\ntwo\nthree\n' >$DEVICE
	same "queued" "$(cat $COUNTS/queued)" 1
	exec 3<$DEVICE
	read -r a <&3
	same "queued" "$(cat $COUNTS/queued)" 0
	read -r b <&3
	read -r c <&3
	exec 3<&-
	same "lines" "$a $b $c" "one two three"
}

rest_goes_between_commands()
{
	printf 'one\nlost\n' >$DEVICE
	echo next >$DEVICE
	# Each of these opens the device and closes it.
	read -r a <$DEVICE
	read -r b <$DEVICE
	same "lines" "$a $b" "one next"
}

read_with_time_limit()
{
	if read -r -t 1 line <$DEVICE; then
		fail "read something from an empty queue: $line"
	fi
	echo in time >$DEVICE
	read -r -t 30 line <$DEVICE
	same "what was read" "$line" "in time"
}

blocked_read_gets_later_message()
{
	(
		read -r line <$DEVICE
		echo "$line" >/tmp/furlong-line
	) &
	pid=$!
	# The shell polls before it reads, or just reads: 7 or 0.
	until_true grep -q '^[07] ' /proc/$pid/syscall
	echo late >$DEVICE
	wait $pid
	same "what was read" "$(cat /tmp/furlong-line)" late
}

dd_takes_one_binary_message()
{
	dd if=/dev/urandom of=/tmp/furlong-a bs=8192 count=1 2>/dev/null
	dd if=/tmp/furlong-a of=$DEVICE bs=8192 2>/dev/null
	echo behind >$DEVICE
	same "queued" "$(cat $COUNTS/queued)" 2
	dd if=$DEVICE of=/tmp/furlong-b bs=8192 count=1 2>/dev/null
	cmp /tmp/furlong-a /tmp/furlong-b
	read -r line <$DEVICE
	same "what was behind" "$line" behind
}

dd_takes_messages_one_by_one()
{
	for i in 1 22 333; do
		printf %s $i >$DEVICE
	done
	# Each read is one message, however large the block.
	same "three blocks" "$(dd if=$DEVICE bs=1000 count=3 2>/dev/null)" 122333
	same "queued" "$(cat $COUNTS/queued)" 0
}

head_takes_one()
{
	echo first >$DEVICE
	echo second >$DEVICE
	same "first line" "$(head -n 1 <$DEVICE)" first
	same "second line" "$(head -n 1 <$DEVICE)" second
}

append_and_truncate()
{
	echo one >$DEVICE
	echo two >>$DEVICE
	echo three >$DEVICE
	same "queued" "$(cat $COUNTS/queued)" 3
	exec 3<>$DEVICE
	read -r a <&3
	read -r b <&3
	read -r c <&3
	exec 3<&-
	same "lines" "$a $b $c" "one two three"
}

full_queue_makes_echo_wait()
{
	depth=$(cat $COUNTS/depth)
	i=0
	while [ $i -lt "$depth" ]; do
		echo $i
		i=$((i + 1))
	done >$DEVICE
	same "queued" "$(cat $COUNTS/queued)" "$depth"
	echo last >$DEVICE &
	pid=$!
	blocked $pid 1
	exec 3<$DEVICE
	i=0
	while [ $i -lt "$depth" ]; do
		read -r line <&3
		same "message $i" "$line" $i
		i=$((i + 1))
	done
	wait $pid
	read -r line <&3
	same "the one that waited" "$line" last
}

statistics()
{
	sent=$(cat $COUNTS/sent)
	received=$(cat $COUNTS/received)
	discarded=$(cat $COUNTS/discarded)
	same "openers" "$(cat $COUNTS/openers)" 0
	exec 3<>$DEVICE
	same "openers" "$(cat $COUNTS/openers)" 1
	echo 1 >&3
	echo 2 >&3
	echo 3 >&3
	read -r line <&3
	"$HERE/tool" reset 0
	same "sent" "$(cat $COUNTS/sent)" $((sent + 3))
	same "received" "$(cat $COUNTS/received)" $((received + 1))
	same "discarded" "$(cat $COUNTS/discarded)" $((discarded + 2))
	exec 3<&-
	same "openers" "$(cat $COUNTS/openers)" 0
	same "peers" "$(cat /sys/class/misc/furlong-shm0/peers)" 0
	same "mappings" "$(cat /sys/class/misc/furlong-shm0/mappings)" 0
	same "size" "$(cat /sys/class/misc/furlong-shm0/size)" 1048576
}

pipe_through()
{
	# A filter between two channels.
	(
		i=0
		while [ $i -lt 20 ]; do
			read -r line
			echo "<$line>"
			i=$((i + 1))
		done <$DEVICE >/dev/furlong-message1
	) &
	i=0
	while [ $i -lt 20 ]; do
		echo $i >$DEVICE
		i=$((i + 1))
	done
	exec 3</dev/furlong-message1
	i=0
	while [ $i -lt 20 ]; do
		read -r line <&3
		same "line $i" "$line" "<$i>"
		i=$((i + 1))
	done
	wait
}

take_ten()
{
	i=0
	while [ $i -lt 10 ]; do
		read -r line
		echo "$line"
		i=$((i + 1))
	done <$DEVICE
}

two_readers_share()
{
	take_ten >/tmp/furlong-a &
	one=$!
	take_ten >/tmp/furlong-b &
	two=$!
	i=10
	while [ $i -lt 30 ]; do
		echo $i >$DEVICE
		i=$((i + 1))
	done
	wait $one
	wait $two
	same "all of them" "$(sort /tmp/furlong-a /tmp/furlong-b | tr '\n' ' ')" \
		"$(seq 10 29 | tr '\n' ' ')"
}

binary_bytes_survive()
{
	printf 'a\000b\377c\n' >$DEVICE
	printf 'a\000b\377c\n' >/tmp/furlong-a
	"$HERE/tool" receive 0 >/tmp/furlong-b
	cmp /tmp/furlong-a /tmp/furlong-b
}

. "$(dirname "$0")/tap.sh"
