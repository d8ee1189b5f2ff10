// SPDX-License-Identifier: GPL-2.0
/*
 * The shared-memory device: a region that all peers map, and a bell for each
 * peer.
 *
 * The kernel handles the bells and never accesses the region's contents. Pages
 * are mapped on a fault, so a mapping can only reach pages of the region.
 * uapi/linux/furlong.h documents each call.
 */
#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
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

#define EVERYONE	U64_MAX

struct channel {
	struct furlong_device device;

	spinlock_t lock; /* guards all below; taken before a peer's */
	struct peer __rcu *peers[FURLONG_SHM_PEERS];
	u64 present;
	u64 size;
	/* One for each page of the region, allocated by the first mapping. */
	struct page **pages;
	u32 mappings;
};

/* One open file description. */
struct peer {
	struct channel *channel;
	unsigned int number;
	struct rcu_head rcu;
	/* Its lock guards the following fields. */
	wait_queue_head_t waiting;
	u64 rung;
	u64 watched;
	u64 gone;
};

static struct channel channels[FURLONG_CHANNELS_MAX];

static bool has_news(const struct peer *peer)
{
	return peer->rung || peer->gone;
}

static int ring(struct peer *by, u32 number)
{
	struct channel *channel = by->channel;
	struct peer *peer;

	if (number >= FURLONG_SHM_PEERS)
		return -EINVAL;
	rcu_read_lock();
	peer = rcu_dereference(channel->peers[number]);
	if (!peer) {
		rcu_read_unlock();
		return -ENXIO;
	}
	trace_shm_ring(channel->device.number, by->number, number);
	/* Also orders the caller's stores before the loads of the woken peer. */
	spin_lock_irq(&peer->waiting.lock);
	WRITE_ONCE(peer->rung, peer->rung + 1);
	/* Under the lock of the waiters, so that no waiter is missed. */
	if (waitqueue_active(&peer->waiting))
		wake_up_locked_poll(&peer->waiting, EPOLLIN | EPOLLRDNORM);
	spin_unlock_irq(&peer->waiting.lock);
	rcu_read_unlock();
	return 0;
}

/*
 * Waits for a ring. Sets *@rung to the number of rings, which is 0 at the end
 * of file. Returns 0 or an error.
 */
static int await_bell(struct peer *peer, bool no_wait, u64 *rung)
{
	int error = 0;

	spin_lock_irq(&peer->waiting.lock);
	if (!has_news(peer)) {
		error = -EAGAIN;
		if (!no_wait)
			error = wait_event_interruptible_locked_irq(peer->waiting, has_news(peer));
	}
	*rung = peer->rung;
	WRITE_ONCE(peer->rung, 0);
	spin_unlock_irq(&peer->waiting.lock);
	return error;
}

/* Restores rings that could not be copied to the caller. */
static void ring_again(struct peer *peer, u64 rung)
{
	spin_lock_irq(&peer->waiting.lock);
	WRITE_ONCE(peer->rung, peer->rung + rung);
	wake_up_locked_poll(&peer->waiting, EPOLLIN | EPOLLRDNORM);
	spin_unlock_irq(&peer->waiting.lock);
}

static ssize_t shm_write(struct file *file, const char __user *buffer, size_t length,
			 loff_t *position)
{
	u32 number;
	int error;

	if (length != sizeof(number))
		return -EINVAL;
	if (get_user(number, (const u32 __user *)buffer))
		return -EFAULT;
	error = ring(file->private_data, number);
	return error ? error : sizeof(number);
}

static ssize_t shm_read(struct file *file, char __user *buffer, size_t length, loff_t *position)
{
	struct peer *peer = file->private_data;
	int error;
	u64 rung;

	if (length < sizeof(rung))
		return -EINVAL;
	error = await_bell(peer, file->f_flags & O_NONBLOCK, &rung);
	if (error || !rung)
		return error;
	if (put_user(rung, (u64 __user *)buffer)) {
		ring_again(peer, rung);
		return -EFAULT;
	}
	return sizeof(rung);
}

/* Several buffers that together hold one number. */
static ssize_t shm_write_iter(struct kiocb *call, struct iov_iter *from)
{
	u32 number;
	int error;

	if (iov_iter_count(from) != sizeof(number))
		return -EINVAL;
	if (!copy_from_iter_full(&number, sizeof(number), from))
		return -EFAULT;
	error = ring(call->ki_filp->private_data, number);
	return error ? error : sizeof(number);
}

static ssize_t shm_read_iter(struct kiocb *call, struct iov_iter *to)
{
	struct peer *peer = call->ki_filp->private_data;
	int error;
	u64 rung;

	if (iov_iter_count(to) < sizeof(rung))
		return -EINVAL;
	error = await_bell(peer, furlong_may_not_wait(call), &rung);
	if (error || !rung)
		return error;
	if (copy_to_iter(&rung, sizeof(rung), to) != sizeof(rung)) {
		ring_again(peer, rung);
		return -EFAULT;
	}
	return sizeof(rung);
}

static __poll_t shm_poll(struct file *file, poll_table *wait)
{
	const __poll_t wanted = poll_requested_events(wait);
	struct peer *peer = file->private_data;
	__poll_t events = 0;

	if (wanted & (EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLHUP))
		poll_wait(file, &peer->waiting, wait);
	/* poll_wait() took the lock that guards these fields. */
	if (READ_ONCE(peer->gone))
		events |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLHUP;
	if (READ_ONCE(peer->rung))
		events |= EPOLLIN | EPOLLRDNORM;
	if (file->f_mode & FMODE_WRITE)
		events |= EPOLLOUT | EPOLLWRNORM;
	return events;
}

static int shm_open(struct inode *inode, struct file *file)
{
	struct channel *channel = container_of(file->private_data, struct channel, device.misc);
	struct peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL_ACCOUNT);

	if (!peer)
		return -ENOMEM;
	peer->channel = channel;
	init_waitqueue_head(&peer->waiting);
	spin_lock(&channel->lock);
	if (channel->present == EVERYONE) {
		spin_unlock(&channel->lock);
		kfree(peer);
		return -EUSERS;
	}
	peer->number = __ffs64(~channel->present);
	WRITE_ONCE(channel->present, channel->present | BIT_ULL(peer->number));
	rcu_assign_pointer(channel->peers[peer->number], peer);
	spin_unlock(&channel->lock);
	file->private_data = peer;
	file->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, file);
}

/* Reports the end of a peer to its watchers. The caller holds the channel's lock. */
static void tell_watchers(struct channel *channel, unsigned int number)
{
	struct peer *peer;

	for (unsigned int i = 0; i < FURLONG_SHM_PEERS; i++) {
		peer = rcu_dereference_protected(channel->peers[i],
						 lockdep_is_held(&channel->lock));
		if (!peer)
			continue;
		spin_lock_irq(&peer->waiting.lock);
		if (peer->watched & BIT_ULL(number)) {
			peer->watched &= ~BIT_ULL(number);
			WRITE_ONCE(peer->gone, peer->gone | BIT_ULL(number));
			wake_up_locked_poll(&peer->waiting, EPOLLIN | EPOLLRDNORM | EPOLLRDHUP |
					    EPOLLHUP);
		}
		spin_unlock_irq(&peer->waiting.lock);
	}
}

static size_t pages_of(u64 size)
{
	return size >> PAGE_SHIFT;
}

static void free_region(struct page **pages, u64 size)
{
	if (!pages)
		return;
	for (size_t i = 0; i < pages_of(size) && pages[i]; i++) {
		put_page(pages[i]);
		cond_resched();
	}
	kvfree(pages);
}

/* Zeroed pages, charged to the caller's memory cgroup. */
static struct page **alloc_region(u64 size)
{
	struct page **pages = kvcalloc(pages_of(size), sizeof(*pages), GFP_KERNEL_ACCOUNT);

	if (!pages)
		return NULL;
	for (size_t i = 0; i < pages_of(size); i++) {
		pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_HIGHMEM);
		if (!pages[i] || fatal_signal_pending(current)) {
			free_region(pages, size);
			return NULL;
		}
		cond_resched();
	}
	return pages;
}

/* Bytes to reserve for this size, but at least those of the initial size. */
static u64 set_aside(u64 size)
{
	return max_t(u64, size, furlong_shm_size);
}

/* Replaces the region by an unallocated one of this size. The caller holds the lock. */
static int replace_region(struct channel *channel, u64 size, struct page ***pages)
{
	int error = furlong_reserve(set_aside(size), set_aside(channel->size));

	if (error)
		return error;
	*pages = channel->pages;
	channel->pages = NULL;
	WRITE_ONCE(channel->size, size);
	return 0;
}

static int shm_release(struct inode *inode, struct file *file)
{
	struct peer *peer = file->private_data;
	struct channel *channel = peer->channel;
	struct page **pages = NULL;
	u64 size;

	spin_lock(&channel->lock);
	rcu_assign_pointer(channel->peers[peer->number], NULL);
	WRITE_ONCE(channel->present, channel->present & ~BIT_ULL(peer->number));
	tell_watchers(channel, peer->number);
	size = channel->size;
	/* No peer means no mapping, because a mapping holds its file. The size is reserved. */
	if (!channel->present)
		replace_region(channel, furlong_shm_size, &pages);
	spin_unlock(&channel->lock);
	free_region(pages, size);
	kfree_rcu(peer, rcu);
	return 0;
}

static void count_mappings(struct vm_area_struct *area, int change)
{
	struct channel *channel = area->vm_private_data;

	spin_lock(&channel->lock);
	WRITE_ONCE(channel->mappings, channel->mappings + change);
	spin_unlock(&channel->lock);
}

static void area_open(struct vm_area_struct *area)
{
	count_mappings(area, 1);
}

static void area_close(struct vm_area_struct *area)
{
	count_mappings(area, -1);
}

static vm_fault_t area_fault(struct vm_fault *fault)
{
	/* Size and pages do not change while a mapping exists. */
	struct channel *channel = fault->vma->vm_private_data;

	/* mremap() may have made the mapping longer than the region. */
	if (fault->pgoff >= pages_of(channel->size))
		return VM_FAULT_SIGBUS;
	fault->page = channel->pages[fault->pgoff];
	get_page(fault->page);
	return 0;
}

static const struct vm_operations_struct area_operations = {
	.open = area_open,
	.close = area_close,
	.fault = area_fault,
};

/*
 * Counts one more mapping if the region has pages, and returns 0. Otherwise
 * returns the number of bytes it needs.
 */
static u64 map_pages(struct channel *channel, struct page ***pages, u64 size)
{
	u64 missing = 0;

	spin_lock(&channel->lock);
	if (!channel->pages && *pages && channel->size == size) {
		channel->pages = *pages;
		*pages = NULL;
	}
	if (channel->pages)
		channel->mappings++;
	else
		missing = channel->size;
	spin_unlock(&channel->lock);
	return missing;
}

static int shm_mmap(struct file *file, struct vm_area_struct *area)
{
	struct peer *peer = file->private_data;
	struct channel *channel = peer->channel;
	struct page **pages = NULL;
	u64 missing, size = 0;

	/* Not VM_SHARED, which a read-only mapping does not have. */
	if (!(area->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	while ((missing = map_pages(channel, &pages, size))) {
		/* Another process has resized the region in between. */
		free_region(pages, size);
		size = missing;
		pages = alloc_region(size);
		if (!pages)
			return -ENOMEM;
	}
	/* Another process has allocated the pages in between. */
	free_region(pages, size);
	area->vm_private_data = channel;
	if (area->vm_pgoff > pages_of(channel->size) ||
	    vma_pages(area) > pages_of(channel->size) - area->vm_pgoff) {
		area_close(area);
		return -EINVAL;
	}
	area->vm_ops = &area_operations;
	return 0;
}

static int ioctl_info(struct peer *peer, struct furlong_shm_info __user *to)
{
	struct channel *channel = peer->channel;
	struct furlong_shm_info info = {
		.abi = FURLONG_ABI,
		.channel = channel->device.number,
		.peer = peer->number,
	};

	spin_lock(&channel->lock);
	info.mappings = channel->mappings;
	info.size = channel->size;
	info.peers = channel->present;
	spin_lock_irq(&peer->waiting.lock);
	info.watched = peer->watched | peer->gone;
	info.gone = peer->gone;
	spin_unlock_irq(&peer->waiting.lock);
	spin_unlock(&channel->lock);
	return copy_to_user(to, &info, sizeof(info)) ? -EFAULT : 0;
}

static int ioctl_resize(struct channel *channel, const u64 __user *from)
{
	struct page **pages = NULL;
	int error = -EBUSY;
	u64 before, size;

	if (copy_from_user(&size, from, sizeof(size)))
		return -EFAULT;
	if (!size)
		return -EINVAL;
	if (size > ULONG_MAX - PAGE_SIZE)
		return -ENOSPC;
	size = PAGE_ALIGN(size);
	spin_lock(&channel->lock);
	before = channel->size;
	if (!channel->mappings)
		error = replace_region(channel, size, &pages);
	spin_unlock(&channel->lock);
	free_region(pages, before);
	return error;
}

static int ioctl_watch(struct peer *peer, u32 number)
{
	struct channel *channel = peer->channel;
	int error = -ENXIO;

	if (number >= FURLONG_SHM_PEERS || number == peer->number)
		return -EINVAL;
	/* Held so that the peer cannot go unnoticed between check and update. */
	spin_lock(&channel->lock);
	if (channel->present & BIT_ULL(number)) {
		spin_lock_irq(&peer->waiting.lock);
		peer->watched |= BIT_ULL(number);
		WRITE_ONCE(peer->gone, peer->gone & ~BIT_ULL(number));
		spin_unlock_irq(&peer->waiting.lock);
		error = 0;
	}
	spin_unlock(&channel->lock);
	return error;
}

static long shm_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct peer *peer = file->private_data;
	void __user *at = (void __user *)argument;
	u32 number;

	switch (command) {
	case FURLONG_SHM_INFO:
		return ioctl_info(peer, at);
	case FURLONG_SHM_RESIZE:
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		return ioctl_resize(peer->channel, at);
	case FURLONG_SHM_RING:
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		if (get_user(number, (const u32 __user *)at))
			return -EFAULT;
		return ring(peer, number);
	case FURLONG_SHM_WATCH:
		if (get_user(number, (const u32 __user *)at))
			return -EFAULT;
		return ioctl_watch(peer, number);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations shm_operations = {
	.owner = THIS_MODULE,
	.open = shm_open,
	.release = shm_release,
	.read = shm_read,
	.write = shm_write,
	.read_iter = shm_read_iter,
	.write_iter = shm_write_iter,
	.poll = shm_poll,
	.mmap = shm_mmap,
	.unlocked_ioctl = shm_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct channel *channel_of(struct device *device)
{
	return container_of(dev_get_drvdata(device), struct channel, device.misc);
}

static ssize_t size_show(struct device *device, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%llu\n", READ_ONCE(channel_of(device)->size));
}
static DEVICE_ATTR_RO(size);

static ssize_t peers_show(struct device *device, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%u\n", (u32)hweight64(READ_ONCE(channel_of(device)->present)));
}
static DEVICE_ATTR_RO(peers);

static ssize_t mappings_show(struct device *device, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%u\n", READ_ONCE(channel_of(device)->mappings));
}
static DEVICE_ATTR_RO(mappings);

static struct attribute *shm_attrs[] = {
	&dev_attr_size.attr,
	&dev_attr_peers.attr,
	&dev_attr_mappings.attr,
	NULL
};
ATTRIBUTE_GROUPS(shm);

int furlong_shm_add(unsigned int number)
{
	struct channel *channel = &channels[number];

	spin_lock_init(&channel->lock);
	channel->size = furlong_shm_size;
	return furlong_register(&channel->device, "shm", number, &shm_operations, shm_groups);
}

/* The last peer has already freed the region. */
void furlong_shm_remove(unsigned int number)
{
	misc_deregister(&channels[number].device.misc);
}
