/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Interface of furlong's devices to programs.
 *
 * The module creates two kinds of character devices, several of each (parameter
 * "channels"): /dev/furlong-messageN and /dev/furlong-shmN. This header and the
 * calls below are the complete interface. Each structure is identical for 32-bit
 * and 64-bit programs. Reserved fields are zero; a call that finds another value
 * in one fails with EINVAL.
 *
 *
 * The message device: a bounded queue of messages in the kernel.
 *
 * write()   sends one message, either the whole message or nothing. writev() also sends one.
 *           An empty message is not sent: the call returns 0. EMSGSIZE: longer
 *           than the channel's limit. If the queue is full, the call blocks, or
 *           fails with EAGAIN on a non-blocking descriptor. EINTR: a signal
 *           arrived first. EFAULT: invalid memory. After any error, nothing was
 *           sent.
 * read()    receives from one message, never from two. One of several readers
 *           receives it. If the buffer is shorter than the message, the rest
 *           stays with this open file description for its next read. With
 *           FURLONG_MESSAGE_STRICT the call fails with EMSGSIZE instead, and the
 *           message stays in the queue. EFAULT: invalid memory; bytes that were
 *           not received stay. A partially read message counts towards the limit
 *           of the queue until it is read completely or discarded. If the queue
 *           is empty, the call blocks, or fails with EAGAIN. There is no end of
 *           file, because a queue outlives its writers. A read of 0 bytes returns
 *           0.
 * poll()    EPOLLIN: a message, or the rest of one, can be read. EPOLLOUT: the
 *           queue has room.
 * close()   discards the rest of a partially read message. Messages in the queue
 *           stay, even if no process has the device open, unless a process made
 *           the channel FURLONG_MESSAGE_TRANSIENT.
 *
 *
 * The shared-memory device: a region that all openers share, and doorbells.
 *
 * Each open file description is a peer with a number, 0 to 63. EUSERS: all
 * numbers are in use. fork() and a passed descriptor share a peer. A mapping
 * holds the open file description: a peer exists until its last descriptor is
 * closed and its last mapping is unmapped.
 *
 * mmap()    maps the region, or a part of it, MAP_SHARED only. The region is
 *           zeroed when it is first mapped, and freed with the last peer.
 *           EINVAL: private, or beyond the end. ENOMEM: no memory.
 * write()   of a __u32 rings the bell of the peer with that number, like
 *           FURLONG_SHM_RING. A peer that has read its bell sees everything that
 *           the caller wrote to the region before. ENXIO: the peer does not
 *           exist. EINVAL: not four bytes, or above 63.
 * read()    of a __u64 returns the number of rings of this peer since its last
 *           read, and resets it. EINVAL: room for less than eight bytes. If the
 *           number is 0, the call blocks, or fails with EAGAIN; if a watched peer
 *           has gone, it returns 0, the end of file.
 * poll()    EPOLLIN: the peer was rung, or a watched peer has gone; the latter
 *           also sets EPOLLRDHUP | EPOLLHUP. EPOLLOUT: always.
 */
#ifndef _UAPI_LINUX_FURLONG_H
#define _UAPI_LINUX_FURLONG_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Incremented when a call changes its meaning; additions keep it. */
#define FURLONG_ABI		1

/* Maximum size of a message in bytes, and maximum length of a queue. */
#define FURLONG_MESSAGE_SIZE_MAX	(1U << 20)
#define FURLONG_MESSAGE_DEPTH_MAX	65536U

/* Maximum number of peers of one shared-memory device. */
#define FURLONG_SHM_PEERS	64U

/* Flag of an open file description: messages are never read in parts. */
#define FURLONG_MESSAGE_STRICT	(1U << 0)
/*
 * Flag of the channel until its last open file description is closed. Its
 * messages are then discarded, and its limits return to the module's
 * parameters. For programs that must leave nothing behind, however they end.
 * Needs reading and writing.
 */
#define FURLONG_MESSAGE_TRANSIENT	(1U << 1)

/**
 * struct furlong_message_info - state of a message channel
 * @abi: FURLONG_ABI of the module
 * @channel: the number in the device's name
 * @depth: maximum number of messages in the queue
 * @size: maximum size of a message in bytes
 * @queued: messages in the queue, without partially read ones
 * @openers: open file descriptions of the device
 * @flags: FURLONG_MESSAGE_* of this open file description
 * @reserved: zero
 * @queued_bytes: bytes of the messages in the queue
 * @sent: messages sent since the module was loaded
 * @received: messages removed from the queue by readers
 * @discarded: messages discarded by FURLONG_MESSAGE_RESET or as transient
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
 * struct furlong_message_limits - limits of a channel
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
 * struct furlong_shm_info - state of a shared region
 * @abi: FURLONG_ABI of the module
 * @channel: the number in the device's name
 * @peer: the caller's number
 * @mappings: mappings of the region by all peers
 * @size: bytes of the region
 * @peers: one bit for each existing peer
 * @watched: one bit for each peer that the caller watches
 * @gone: one bit for each watched peer that has gone
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

/* Returns the state of the channel. */
#define FURLONG_MESSAGE_INFO	_IOR(FURLONG_IOC_MAGIC, 0x00, struct furlong_message_info)
/*
 * Sets both limits for messages that are queued from now on. EBUSY: the channel
 * holds more messages, or more bytes than @depth messages of @size. ENOSPC:
 * beyond the module's memory_max. EBADF: the descriptor is not open for
 * writing, as for all following calls.
 */
#define FURLONG_MESSAGE_LIMITS	_IOW(FURLONG_IOC_MAGIC, 0x01, struct furlong_message_limits)
/* Sets this open file description's flags; the argument points to them. */
#define FURLONG_MESSAGE_FLAGS	_IOW(FURLONG_IOC_MAGIC, 0x02, __u32)
/* Discards all messages in the queue. Needs reading and writing. */
#define FURLONG_MESSAGE_RESET	_IO(FURLONG_IOC_MAGIC, 0x03)

/* Returns the state of the region and its peers. */
#define FURLONG_SHM_INFO	_IOR(FURLONG_IOC_MAGIC, 0x10, struct furlong_shm_info)
/*
 * Sets the region's size, rounded up to pages, and zeroes it, until the last
 * peer closes the device. Needs writing. EBUSY: it is mapped. EINVAL: zero.
 * ENOSPC: beyond memory_max.
 */
#define FURLONG_SHM_RESIZE	_IOW(FURLONG_IOC_MAGIC, 0x11, __u64)
/* Rings a peer's bell, like write(). Needs writing. */
#define FURLONG_SHM_RING	_IOW(FURLONG_IOC_MAGIC, 0x12, __u32)
/*
 * Watches a peer. When it goes, the caller reads the end of file until it
 * watches that number again. ENXIO: the peer does not exist. EINVAL: the caller
 * itself, or above 63.
 */
#define FURLONG_SHM_WATCH	_IOW(FURLONG_IOC_MAGIC, 0x13, __u32)

#endif /* _UAPI_LINUX_FURLONG_H */
