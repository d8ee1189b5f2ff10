// SPDX-License-Identifier: GPL-2.0
/*
 * The message device: a bounded queue of messages, shared by all its openers.
 *
 * A message is copied in before any lock is taken, and copied out afterwards,
 * so that a page fault in one process does not stop others. The queue is a list
 * under a spinlock. uapi/linux/furlong.h documents each call.
 */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <uapi/linux/furlong.h>

#include "furlong.h"
#include "furlong_trace.h"

#define ALL_FLAGS	(FURLONG_MESSAGE_STRICT | FURLONG_MESSAGE_TRANSIENT)

/*
 * Messages of up to this many bytes are stored behind their header, and their
 * memory is reused for the next message. The bytes of longer messages are
 * stored separately, because 8 KiB with a header would take 16 KiB.
 */
#define SHORT_BYTES_MAX	3072

struct message {
	struct list_head link;
	u64 sequence;
	u32 length;
	u32 capacity; /* bytes behind the header; 0 if they are separate */
	u8 *bytes;
	u8 behind[];
};

struct channel {
	struct furlong_device device;
	/* Woken one at a time: each wake-up is a message, or room for one. */
	wait_queue_head_t readers;
	wait_queue_head_t writers;
	/*
	 * Memory of a received message, reused for the next one. The caller
	 * that takes it owns it. It stays charged to the control group of its
	 * first sender.
	 */
	struct message *spare;

	spinlock_t lock; /* guards all below */
	struct list_head queue;
	u32 depth;
	u32 size;
	u32 queued;
	/* Partially read messages; each counts towards the limit until it is freed. */
	u32 parted;
	u32 openers;
	u64 queued_bytes;
	u64 parted_bytes;
	u64 sent;
	u64 received;
	u64 discarded;
	bool transient;
};

/* One open file description. */
struct opener {
	struct channel *channel;
	u32 flags;
	struct mutex reading; /* guards the following fields, even during the copy to the reader */
	/* A partially read message, and the position in it. */
	struct message *rest;
	size_t offset;
};

static struct channel channels[FURLONG_CHANNELS_MAX];

static void message_free(struct message *message)
{
	if (message && !message->capacity)
		kvfree(message->bytes);
	kfree(message);
}

static struct message *message_alloc(struct channel *channel, size_t length)
{
	size_t behind = length <= SHORT_BYTES_MAX ? length : 0;
	struct message *message = behind ? xchg(&channel->spare, NULL) : NULL;

	if (!message || message->capacity < behind) {
		message_free(message);
		message = kmalloc(struct_size(message, behind, behind), GFP_KERNEL_ACCOUNT);
		if (!message)
			return NULL;
		message->capacity = behind;
		message->bytes = behind ? message->behind : kvmalloc(length, GFP_KERNEL_ACCOUNT);
		if (!message->bytes) {
			kfree(message);
			return NULL;
		}
	}
	message->length = length;
	return message;
}

/* Keeps the message's memory for reuse, or frees it. */
static void message_reuse(struct channel *channel, struct message *message)
{
	if (message->capacity)
		message = xchg(&channel->spare, message);
	message_free(message);
}

static void free_all(struct list_head *messages)
{
	struct message *message, *next;

	list_for_each_entry_safe(message, next, messages, link)
		message_free(message);
}

static void wake_reader(struct channel *channel)
{
	if (wq_has_sleeper(&channel->readers))
		wake_up_interruptible_sync_poll(&channel->readers, EPOLLIN | EPOLLRDNORM);
}

static void wake_writer(struct channel *channel)
{
	if (wq_has_sleeper(&channel->writers))
		wake_up_interruptible_sync_poll(&channel->writers, EPOLLOUT | EPOLLWRNORM);
}

static bool has_room(struct channel *channel)
{
	return READ_ONCE(channel->queued) + READ_ONCE(channel->parted) < READ_ONCE(channel->depth);
}

/* Appends a message to the queue; -EAGAIN if the queue is full. */
static int enqueue(struct channel *channel, struct message *message)
{
	int error = 0;

	spin_lock(&channel->lock);
	if (message->length > channel->size) {
		/* The limits have changed since the call began. */
		error = -EMSGSIZE;
	} else if (!has_room(channel)) {
		error = -EAGAIN;
	} else {
		message->sequence = channel->sent++;
		list_add_tail(&message->link, &channel->queue);
		WRITE_ONCE(channel->queued, channel->queued + 1);
		channel->queued_bytes += message->length;
		/*
		 * Under the lock, because a reader may free the message once it
		 * is unlocked.
		 */
		trace_message_send(channel->device.number, message->sequence, message->bytes,
				   message->length);
	}
	spin_unlock(&channel->lock);
	return error;
}

/*
 * Removes the first message from the queue. NULL if there is none, -EMSGSIZE if
 * it has more than @most bytes.
 */
static struct message *dequeue(struct channel *channel, size_t most)
{
	struct message *message;

	spin_lock(&channel->lock);
	message = list_first_entry_or_null(&channel->queue, struct message, link);
	if (message && message->length > most) {
		message = ERR_PTR(-EMSGSIZE);
	} else if (message) {
		list_del(&message->link);
		WRITE_ONCE(channel->queued, channel->queued - 1);
		channel->queued_bytes -= message->length;
		channel->received++;
	}
	spin_unlock(&channel->lock);
	return message;
}

/* Returns a message that could not be read to the head of the queue. */
static void put_back(struct channel *channel, struct message *message)
{
	spin_lock(&channel->lock);
	list_add(&message->link, &channel->queue);
	WRITE_ONCE(channel->queued, channel->queued + 1);
	channel->queued_bytes += message->length;
	channel->received--;
	spin_unlock(&channel->lock);
}

/* Counts the opener's message as partially read. */
static void begin_part(struct opener *opener)
{
	struct channel *channel = opener->channel;

	spin_lock(&channel->lock);
	WRITE_ONCE(channel->parted, channel->parted + 1);
	channel->parted_bytes += opener->rest->length;
	spin_unlock(&channel->lock);
}

/* Stops counting the message, before it is freed. */
static void end_part(struct opener *opener)
{
	struct channel *channel = opener->channel;

	opener->offset = 0;
	spin_lock(&channel->lock);
	WRITE_ONCE(channel->parted, channel->parted - 1);
	channel->parted_bytes -= opener->rest->length;
	spin_unlock(&channel->lock);
	wake_writer(channel);
}

/* Data to send: one buffer, or several. */
struct source {
	const char __user *buffer;
	struct iov_iter *buffers;
	size_t length;
};

static bool copy_in(struct message *message, const struct source *source)
{
	if (source->buffers)
		return copy_from_iter_full(message->bytes, source->length, source->buffers);
	return !copy_from_user(message->bytes, source->buffer, source->length);
}

static struct message *message_from(struct channel *channel, const struct source *source)
{
	struct message *message = message_alloc(channel, source->length);

	if (!message)
		return ERR_PTR(-ENOMEM);
	if (!copy_in(message, source)) {
		message_reuse(channel, message);
		return ERR_PTR(-EFAULT);
	}
	return message;
}

static ssize_t message_send(struct file *file, const struct source *source, bool no_wait)
{
	struct opener *opener = file->private_data;
	struct channel *channel = opener->channel;
	struct message *message = NULL;
	bool woken = false;
	ssize_t sent;

	if (!source->length)
		return 0;
	if (source->length > READ_ONCE(channel->size))
		return -EMSGSIZE;
	for (;;) {
		/* Room is checked first, so that waiting writers hold no memory. */
		if (has_room(channel)) {
			if (!message)
				message = message_from(channel, source);
			sent = PTR_ERR_OR_ZERO(message);
			if (sent)
				break;
			sent = enqueue(channel, message);
			if (!sent) {
				wake_reader(channel);
				sent = source->length;
			}
			if (sent != -EAGAIN)
				break;
		}
		sent = -EAGAIN;
		if (no_wait)
			break;
		sent = wait_event_interruptible_exclusive(channel->writers, has_room(channel));
		if (sent)
			break;
		woken = true;
	}
	if (sent < 0 && !IS_ERR_OR_NULL(message))
		message_reuse(channel, message);
	/* Pass the wake-up on if this call did not use the room. */
	if (woken && has_room(channel))
		wake_writer(channel);
	return sent;
}

/* Destination of received data: one buffer, or several. */
struct sink {
	char __user *buffer;
	struct iov_iter *buffers;
	size_t length;
};

static bool copy_out(const struct sink *sink, const u8 *bytes, size_t length)
{
	if (sink->buffers)
		return copy_to_iter(bytes, length, sink->buffers) == length;
	return !copy_to_user(sink->buffer, bytes, length);
}

/* Copies as much of the opener's message as fits. */
static ssize_t deliver(struct opener *opener, const struct sink *sink)
{
	struct channel *channel = opener->channel;
	struct message *message = opener->rest;
	size_t length = min_t(size_t, message->length - opener->offset, sink->length);

	if (!copy_out(sink, message->bytes + opener->offset, length)) {
		if (!opener->offset) {
			opener->rest = NULL;
			put_back(channel, message);
			wake_reader(channel);
		}
		return -EFAULT;
	}
	if (!opener->offset)
		trace_message_receive(channel->device.number, message->sequence, message->bytes,
				      message->length);
	if (length < message->length - opener->offset) {
		if (!opener->offset)
			begin_part(opener);
		opener->offset += length;
		/* Other readers of this open file description can continue with the rest. */
		wake_up_interruptible_all(&channel->readers);
		return length;
	}
	if (opener->offset)
		end_part(opener);
	opener->rest = NULL;
	message_reuse(channel, message);
	return length;
}

/* Receives without waiting for a message: -EAGAIN if there is none. */
static ssize_t try_receive(struct opener *opener, const struct sink *sink)
{
	struct message *message = opener->rest;
	size_t most = READ_ONCE(opener->flags) & FURLONG_MESSAGE_STRICT ? sink->length : SIZE_MAX;

	if (!message) {
		message = dequeue(opener->channel, most);
		if (!message)
			return -EAGAIN;
		if (IS_ERR(message))
			return PTR_ERR(message);
		/* Before the copy, which may block on a page fault. */
		wake_writer(opener->channel);
		opener->rest = message;
	}
	return deliver(opener, sink);
}

/* Like try_receive(), but does not wait for another thread's copy either. */
static ssize_t receive_now(struct opener *opener, const struct sink *sink)
{
	ssize_t got = -EAGAIN;

	if (mutex_trylock(&opener->reading)) {
		got = try_receive(opener, sink);
		mutex_unlock(&opener->reading);
	}
	return got;
}

static ssize_t receive_next(struct opener *opener, const struct sink *sink)
{
	ssize_t got;

	if (mutex_lock_interruptible(&opener->reading))
		return -ERESTARTSYS;
	got = try_receive(opener, sink);
	mutex_unlock(&opener->reading);
	return got;
}

static bool has_message(struct opener *opener)
{
	return READ_ONCE(opener->channel->queued) || READ_ONCE(opener->rest);
}

static ssize_t message_receive(struct file *file, const struct sink *sink, bool no_wait)
{
	struct opener *opener = file->private_data;
	struct channel *channel = opener->channel;
	bool woken = false;
	ssize_t got;

	if (!sink->length)
		return 0;
	for (;;) {
		got = no_wait ? receive_now(opener, sink) : receive_next(opener, sink);
		if (got != -EAGAIN || no_wait)
			break;
		got = wait_event_interruptible_exclusive(channel->readers, has_message(opener));
		if (got)
			break;
		woken = true;
	}
	/* Pass the wake-up on if this call did not take the message. */
	if (woken && READ_ONCE(channel->queued))
		wake_reader(channel);
	return got;
}

static ssize_t message_write(struct file *file, const char __user *buffer, size_t length,
			     loff_t *position)
{
	const struct source source = { .buffer = buffer, .length = length };

	return message_send(file, &source, file->f_flags & O_NONBLOCK);
}

static ssize_t message_read(struct file *file, char __user *buffer, size_t length,
			    loff_t *position)
{
	const struct sink sink = { .buffer = buffer, .length = length };

	return message_receive(file, &sink, file->f_flags & O_NONBLOCK);
}

static ssize_t message_write_iter(struct kiocb *call, struct iov_iter *from)
{
	const struct source source = { .buffers = from, .length = iov_iter_count(from) };

	return message_send(call->ki_filp, &source, furlong_may_not_wait(call));
}

static ssize_t message_read_iter(struct kiocb *call, struct iov_iter *to)
{
	const struct sink sink = { .buffers = to, .length = iov_iter_count(to) };

	return message_receive(call->ki_filp, &sink, furlong_may_not_wait(call));
}

static __poll_t message_poll(struct file *file, poll_table *wait)
{
	const __poll_t wanted = poll_requested_events(wait);
	struct opener *opener = file->private_data;
	struct channel *channel = opener->channel;
	__poll_t events = 0;

	if (wanted & (EPOLLIN | EPOLLRDNORM))
		poll_wait(file, &channel->readers, wait);
	if (wanted & (EPOLLOUT | EPOLLWRNORM))
		poll_wait(file, &channel->writers, wait);
	/*
	 * Pairs with wq_has_sleeper(): either it sees this waiter, or this call
	 * sees its change.
	 */
	smp_mb();
	if (file->f_mode & FMODE_READ && has_message(opener))
		events |= EPOLLIN | EPOLLRDNORM;
	if (file->f_mode & FMODE_WRITE && has_room(channel))
		events |= EPOLLOUT | EPOLLWRNORM;
	return events;
}

static int message_open(struct inode *inode, struct file *file)
{
	struct channel *channel = container_of(file->private_data, struct channel, device.misc);
	struct opener *opener = kzalloc(sizeof(*opener), GFP_KERNEL_ACCOUNT);

	if (!opener)
		return -ENOMEM;
	opener->channel = channel;
	mutex_init(&opener->reading);
	file->private_data = opener;
	file->f_mode |= FMODE_NOWAIT;
	spin_lock(&channel->lock);
	channel->openers++;
	spin_unlock(&channel->lock);
	return stream_open(inode, file);
}

/* Moves all messages to @messages. The caller holds the lock. */
static void discard_all(struct channel *channel, struct list_head *messages)
{
	list_splice_init(&channel->queue, messages);
	channel->discarded += channel->queued;
	WRITE_ONCE(channel->queued, 0);
	channel->queued_bytes = 0;
}

/* Bytes to reserve for these limits, but at least those of the initial limits. */
static u64 set_aside(u32 depth, u32 size)
{
	return max((u64)depth * size, (u64)furlong_message_depth * furlong_message_size);
}

/* Sets both limits. The caller holds the lock. */
static int set_limits(struct channel *channel, u32 depth, u32 size)
{
	int error;

	if (channel->queued + channel->parted > depth ||
	    channel->queued_bytes + channel->parted_bytes > (u64)depth * size)
		return -EBUSY;
	error = furlong_reserve(set_aside(depth, size), set_aside(channel->depth, channel->size));
	if (error)
		return error;
	WRITE_ONCE(channel->depth, depth);
	WRITE_ONCE(channel->size, size);
	return 0;
}

static int message_release(struct inode *inode, struct file *file)
{
	struct opener *opener = file->private_data;
	struct channel *channel = opener->channel;
	struct message *spare = NULL;
	LIST_HEAD(messages);

	if (opener->rest)
		end_part(opener);
	message_free(opener->rest);
	spin_lock(&channel->lock);
	if (!--channel->openers) {
		spare = xchg(&channel->spare, NULL);
		if (channel->transient) {
			discard_all(channel, &messages);
			/*
			 * Cannot fail: the queue is empty, and the initial
			 * limits stay reserved.
			 */
			set_limits(channel, furlong_message_depth, furlong_message_size);
			channel->transient = false;
		}
	}
	spin_unlock(&channel->lock);
	message_free(spare);
	free_all(&messages);
	kfree(opener);
	return 0;
}

static int ioctl_info(struct opener *opener, struct furlong_message_info __user *to)
{
	struct channel *channel = opener->channel;
	struct furlong_message_info info = {
		.abi = FURLONG_ABI,
		.channel = channel->device.number,
		.flags = READ_ONCE(opener->flags),
	};

	spin_lock(&channel->lock);
	info.depth = channel->depth;
	info.size = channel->size;
	info.queued = channel->queued;
	info.openers = channel->openers;
	info.queued_bytes = channel->queued_bytes;
	info.sent = channel->sent;
	info.received = channel->received;
	info.discarded = channel->discarded;
	if (channel->transient)
		info.flags |= FURLONG_MESSAGE_TRANSIENT;
	spin_unlock(&channel->lock);
	return copy_to_user(to, &info, sizeof(info)) ? -EFAULT : 0;
}

static int ioctl_limits(struct channel *channel, const struct furlong_message_limits __user *from)
{
	struct furlong_message_limits limits;
	int error;

	if (copy_from_user(&limits, from, sizeof(limits)))
		return -EFAULT;
	if (limits.reserved[0] || limits.reserved[1] ||
	    !limits.depth || limits.depth > FURLONG_MESSAGE_DEPTH_MAX ||
	    !limits.size || limits.size > FURLONG_MESSAGE_SIZE_MAX)
		return -EINVAL;
	spin_lock(&channel->lock);
	error = set_limits(channel, limits.depth, limits.size);
	spin_unlock(&channel->lock);
	/* Wake all writers, because there may be room for all. */
	wake_up_interruptible_all(&channel->writers);
	return error;
}

static int ioctl_flags(struct file *file, struct opener *opener, const u32 __user *from)
{
	struct channel *channel = opener->channel;
	u32 flags;

	if (get_user(flags, from))
		return -EFAULT;
	if (flags & ~ALL_FLAGS)
		return -EINVAL;
	if (flags & FURLONG_MESSAGE_TRANSIENT) {
		if (!(file->f_mode & FMODE_READ) || !(file->f_mode & FMODE_WRITE))
			return -EBADF;
		spin_lock(&channel->lock);
		channel->transient = true;
		spin_unlock(&channel->lock);
	}
	WRITE_ONCE(opener->flags, flags & FURLONG_MESSAGE_STRICT);
	return 0;
}

static void reset(struct channel *channel)
{
	LIST_HEAD(messages);

	spin_lock(&channel->lock);
	discard_all(channel, &messages);
	spin_unlock(&channel->lock);
	wake_up_interruptible_all(&channel->writers);
	free_all(&messages);
}

static long message_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct opener *opener = file->private_data;
	void __user *at = (void __user *)argument;

	switch (command) {
	case FURLONG_MESSAGE_INFO:
		return ioctl_info(opener, at);
	case FURLONG_MESSAGE_LIMITS:
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		return ioctl_limits(opener->channel, at);
	case FURLONG_MESSAGE_FLAGS:
		return ioctl_flags(file, opener, at);
	case FURLONG_MESSAGE_RESET:
		if (!(file->f_mode & FMODE_READ) || !(file->f_mode & FMODE_WRITE))
			return -EBADF;
		reset(opener->channel);
		return 0;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations message_operations = {
	.owner = THIS_MODULE,
	.open = message_open,
	.release = message_release,
	/* Nearly all calls have one buffer, which needs no iov_iter. */
	.read = message_read,
	.write = message_write,
	.read_iter = message_read_iter,
	.write_iter = message_write_iter,
	.poll = message_poll,
	.unlocked_ioctl = message_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

#define COUNTER(name, format)							\
	static ssize_t name##_show(struct device *device, struct device_attribute *attribute, \
				   char *text)					\
	{									\
		struct channel *channel =					\
			container_of(dev_get_drvdata(device), struct channel, device.misc); \
									\
		return sysfs_emit(text, format "\n", READ_ONCE(channel->name));	\
	}									\
	static DEVICE_ATTR_RO(name)

COUNTER(depth, "%u");
COUNTER(size, "%u");
COUNTER(queued, "%u");
COUNTER(openers, "%u");
COUNTER(sent, "%llu");
COUNTER(received, "%llu");
COUNTER(discarded, "%llu");

static struct attribute *message_attrs[] = {
	&dev_attr_depth.attr,
	&dev_attr_size.attr,
	&dev_attr_queued.attr,
	&dev_attr_openers.attr,
	&dev_attr_sent.attr,
	&dev_attr_received.attr,
	&dev_attr_discarded.attr,
	NULL
};
ATTRIBUTE_GROUPS(message);

int furlong_message_add(unsigned int number)
{
	struct channel *channel = &channels[number];

	init_waitqueue_head(&channel->readers);
	init_waitqueue_head(&channel->writers);
	spin_lock_init(&channel->lock);
	INIT_LIST_HEAD(&channel->queue);
	channel->depth = furlong_message_depth;
	channel->size = furlong_message_size;
	return furlong_register(&channel->device, "message", number, &message_operations,
				message_groups);
}

void furlong_message_remove(unsigned int number)
{
	misc_deregister(&channels[number].device.misc);
	free_all(&channels[number].queue);
}
