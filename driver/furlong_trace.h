/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of sent and received messages and of bells, for trace-cmd, perf and tracefs. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM furlong

#if !defined(FURLONG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define FURLONG_TRACE_H

#include <linux/minmax.h>
#include <linux/tracepoint.h>

#include "furlong.h"

DECLARE_EVENT_CLASS(furlong_message,
	TP_PROTO(unsigned int channel, u64 sequence, const void *bytes, u32 length),
	TP_ARGS(channel, sequence, bytes, length),
	TP_STRUCT__entry(
		__field(unsigned int, channel)
		__field(u64, sequence)
		__field(u32, length)
		__dynamic_array(u8, bytes, min(length, READ_ONCE(furlong_log_bytes)))
	),
	TP_fast_assign(
		__entry->channel = channel;
		__entry->sequence = sequence;
		__entry->length = length;
		memcpy(__get_dynamic_array(bytes), bytes, __get_dynamic_array_len(bytes));
	),
	TP_printk("channel=%u sequence=%llu length=%u bytes=%s",
		  __entry->channel, __entry->sequence, __entry->length,
		  __print_hex_str(__get_dynamic_array(bytes), __get_dynamic_array_len(bytes)))
);

DEFINE_EVENT(furlong_message, message_send,
	TP_PROTO(unsigned int channel, u64 sequence, const void *bytes, u32 length),
	TP_ARGS(channel, sequence, bytes, length)
);

DEFINE_EVENT(furlong_message, message_receive,
	TP_PROTO(unsigned int channel, u64 sequence, const void *bytes, u32 length),
	TP_ARGS(channel, sequence, bytes, length)
);

TRACE_EVENT(shm_ring,
	TP_PROTO(unsigned int channel, unsigned int from, unsigned int to),
	TP_ARGS(channel, from, to),
	TP_STRUCT__entry(
		__field(unsigned int, channel)
		__field(unsigned int, from)
		__field(unsigned int, to)
	),
	TP_fast_assign(
		__entry->channel = channel;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("channel=%u from=%u to=%u", __entry->channel, __entry->from, __entry->to)
);

#endif /* FURLONG_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE furlong_trace
#include <trace/define_trace.h>
