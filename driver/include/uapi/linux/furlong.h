/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What a program may ask of furlong's devices.
 *
 * The module makes two kinds of character devices, a few of each (parameter
 * "channels"): /dev/furlong-messageN and /dev/furlong-shmN. This header and
 * the calls below are the whole contract. Each structure is the same for
 * 32-bit and 64-bit programs; reserved fields are zero, and a call that finds
 * another value in one fails with EINVAL.
 *
 *
 * The message device: a bounded queue of messages in the kernel.
 *
 * write()   sends one message: all of it or none. writev() too sends one. An
 *           empty message is not sent: the call returns 0. EMSGSIZE: longer
 *           than the channel's limit. When the queue is full, the call waits,
 *           or fails with EAGAIN on a non-blocking descriptor. EINTR: a signal
 *           came first. EFAULT: bad memory. Whatever error is returned,
 *           nothing was sent.
 * read()    receives from one message, never from two. Of several readers one
 *           receives it. When the buffer is shorter than the message, the rest
 *           stays with this open file description for its next read; with
 *           FURLONG_MESSAGE_STRICT the call fails with EMSGSIZE instead and the
 *           message stays in the queue. EFAULT: bad memory; what was not
 *           received stays. A message that was read in part keeps its place
 *           among those that the queue holds at most, until it is read whole or
 *           thrown away. When the queue is empty, the call waits, or fails
 *           with EAGAIN. There is no end of file: a queue outlives its writers.
 *           A read of 0 bytes returns 0.
 * poll()    EPOLLIN: a message, or the rest of one, can be read. EPOLLOUT: the
 *           queue has room.
 * close()   throws away the rest of a message that was read in part. Messages
 *           in the queue stay, also when nobody has the device open, unless
 *           somebody made the channel FURLONG_MESSAGE_TRANSIENT.
 *
 *
 * The shared-memory device: a region that all openers share, and doorbells.
 *
 * Each open file description is a peer with a number, 0 to 63. EUSERS: all
 * are taken. fork() and a passed descriptor share a peer. A mapping holds the
 * open file description: a peer is there until its last descriptor is closed
 * and its last mapping is gone.
 *
 * mmap()    maps the region, or a part of it, MAP_SHARED only. The region is
 *           zeroed when it is first mapped, and goes when the last peer is gone.
 *           EINVAL: private, or beyond the end. ENOMEM: no memory.
 * write()   of a __u32 rings the bell of the peer with that number; as a
 *           FURLONG_SHM_RING does. Whatever this process has written to the
 *           region before is seen by who has heard the bell. ENXIO: no such
 *           peer (any more). EINVAL: not four bytes, or above 63.
 * read()    of a __u64 gives how often this peer was rung since it was last
 *           asked, and forgets it. EINVAL: room for less than eight bytes. Not
 *           rung: the call waits, or fails with EAGAIN; when a watched peer
 *           has gone, it returns 0, the end of file.
 * poll()    EPOLLIN: it was rung, or a watched peer has gone; then also
 *           EPOLLRDHUP | EPOLLHUP. EPOLLOUT: always.
 */
#ifndef _UAPI_LINUX_FURLONG_H
#define _UAPI_LINUX_FURLONG_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Grows when a call changes its meaning; what is added keeps it. */
#define FURLONG_ABI		1

/* The largest that a message and a queue can be made. */
#define FURLONG_MESSAGE_SIZE_MAX	(1U << 20)
#define FURLONG_MESSAGE_DEPTH_MAX	65536U

/* Peers of one shared-memory device. */
#define FURLONG_SHM_PEERS	64U

/* A flag of an open file description: no message is read in parts. */
#define FURLONG_MESSAGE_STRICT	(1U << 0)
/*
 * A flag for the channel, until nobody has it open: then its messages are thrown
 * away and its limits are those of the module's parameters again. For programs
 * that want nothing to stay, however they end. Needs reading and writing.
 */
#define FURLONG_MESSAGE_TRANSIENT	(1U << 1)

/**
 * struct furlong_message_info - a channel of messages, as it is now
 * @abi: FURLONG_ABI of the module
 * @channel: the number in the device's name
 * @depth: messages that the queue holds at most
 * @size: bytes that a message has at most
 * @queued: messages in the queue, without those that were read in part
 * @openers: open file descriptions of the device
 * @flags: FURLONG_MESSAGE_* of this open file description
 * @reserved: zero
 * @queued_bytes: bytes of the messages in the queue
 * @sent: messages sent since the module was loaded
 * @received: messages taken out of the queue by readers
 * @discarded: messages thrown away, by FURLONG_MESSAGE_RESET or as transient
 */
struct furlong_message_info {
	__u32 abi;
	__u32 channel;
	__u32 depth;
	__u32 size;
	__u32 queued;
	__u32 openers;
	__u32 flags;
	__u32 reserved;
	__u64 queued_bytes;
	__u64 sent;
	__u64 received;
	__u64 discarded;
};

/**
 * struct furlong_message_limits - what a channel may hold
 * @depth: messages, 1 to FURLONG_MESSAGE_DEPTH_MAX
 * @size: bytes in one, 1 to FURLONG_MESSAGE_SIZE_MAX
 * @reserved: zero
 */
struct furlong_message_limits {
	__u32 depth;
	__u32 size;
	__u32 reserved[2];
};

/**
 * struct furlong_shm_info - a shared region, as it is now
 * @abi: FURLONG_ABI of the module
 * @channel: the number in the device's name
 * @peer: the caller's number
 * @mappings: mappings of the region, of all peers
 * @size: bytes of the region
 * @peers: a bit for each peer that is there
 * @watched: a bit for each peer that the caller watches
 * @gone: a bit for each watched peer that has gone
 */
struct furlong_shm_info {
	__u32 abi;
	__u32 channel;
	__u32 peer;
	__u32 mappings;
	__u64 size;
	__u64 peers;
	__u64 watched;
	__u64 gone;
};

#define FURLONG_IOC_MAGIC	0xBC

/* What the channel is and holds. */
#define FURLONG_MESSAGE_INFO	_IOR(FURLONG_IOC_MAGIC, 0x00, struct furlong_message_info)
/*
 * Sets both limits, for what is queued from now on. EBUSY: the channel holds more
 * messages, or more bytes than so many of that size. ENOSPC: beyond the module's
 * memory_max. Needs a descriptor open for writing: EBADF, as for all that follow.
 */
#define FURLONG_MESSAGE_LIMITS	_IOW(FURLONG_IOC_MAGIC, 0x01, struct furlong_message_limits)
/* Sets this open file description's flags; the argument points to them. */
#define FURLONG_MESSAGE_FLAGS	_IOW(FURLONG_IOC_MAGIC, 0x02, __u32)
/* Throws away all messages in the queue. Needs reading and writing. */
#define FURLONG_MESSAGE_RESET	_IO(FURLONG_IOC_MAGIC, 0x03)

/* What the region is and who is there. */
#define FURLONG_SHM_INFO	_IOR(FURLONG_IOC_MAGIC, 0x10, struct furlong_shm_info)
/*
 * Sets the region's size, rounded up to pages, and zeroes it, until the last peer
 * is gone. Needs writing. EBUSY: it is mapped. EINVAL: zero. ENOSPC: beyond
 * memory_max.
 */
#define FURLONG_SHM_RESIZE	_IOW(FURLONG_IOC_MAGIC, 0x11, __u64)
/* Rings a peer's bell, as write() does. Needs writing. */
#define FURLONG_SHM_RING	_IOW(FURLONG_IOC_MAGIC, 0x12, __u32)
/*
 * Watches a peer: when it goes, the caller reads the end of file, until it watches
 * that number again. ENXIO: there is no such peer. EINVAL: the caller itself, or
 * above 63.
 */
#define FURLONG_SHM_WATCH	_IOW(FURLONG_IOC_MAGIC, 0x13, __u32)

#endif /* _UAPI_LINUX_FURLONG_H */
