// SPDX-License-Identifier: GPL-2.0
/*
 * The module: its parameters, its memory limit, and the creation and removal of
 * its devices.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>
#include <uapi/linux/furlong.h>

#include "furlong.h"

#define RANGED_UINT(name, low, high)					\
	static int name##_set(const char *text, const struct kernel_param *kp) \
	{								\
		return param_set_uint_minmax(text, kp, low, high);	\
	}								\
	static const struct kernel_param_ops name##_ops = {		\
		.set = name##_set,					\
		.get = param_get_uint,					\
	}

unsigned int furlong_channels = 4;
RANGED_UINT(channels, 1, FURLONG_CHANNELS_MAX);
module_param_cb(channels, &channels_ops, &furlong_channels, 0444);
MODULE_PARM_DESC(channels, "devices of each kind (4; 1 to 16)");

unsigned int furlong_message_depth = 64;
RANGED_UINT(message_depth, 1, FURLONG_MESSAGE_DEPTH_MAX);
module_param_cb(message_depth, &message_depth_ops, &furlong_message_depth, 0444);
MODULE_PARM_DESC(message_depth, "messages that a queue holds at first (64; 1 to 65536)");

unsigned int furlong_message_size = 8192;
RANGED_UINT(message_size, 1, FURLONG_MESSAGE_SIZE_MAX);
module_param_cb(message_size, &message_size_ops, &furlong_message_size, 0444);
MODULE_PARM_DESC(message_size, "bytes that a message has at most, at first (8192; 1 to 1 MiB)");

unsigned long furlong_shm_size = 1 << 20;
module_param_named(shm_size, furlong_shm_size, ulong, 0444);
MODULE_PARM_DESC(shm_size, "bytes of a shared region, at first (1 MiB)");

static unsigned long memory_max = 64 << 20;
module_param(memory_max, ulong, 0444);
MODULE_PARM_DESC(memory_max, "bytes that all queues and regions may hold together (64 MiB)");

unsigned int furlong_log_bytes;
RANGED_UINT(log_bytes, 0, FURLONG_LOG_BYTES_MAX);
module_param_cb(log_bytes, &log_bytes_ops, &furlong_log_bytes, 0644);
MODULE_PARM_DESC(log_bytes, "bytes of each message that its tracepoints record (0; 0 to 64)");

static DEFINE_SPINLOCK(reserved_lock);
static u64 reserved;

int furlong_reserve(u64 bytes, u64 before)
{
	int error = -ENOSPC;

	spin_lock(&reserved_lock);
	if (bytes <= before || bytes - before <= memory_max - reserved) {
		reserved += bytes - before;
		error = 0;
	}
	spin_unlock(&reserved_lock);
	return error;
}

/* Reserves the initial maximum content of all channels. */
static int reserve_all(void)
{
	const u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	const u64 queue = (u64)furlong_message_depth * furlong_message_size;
	u64 all;

	if (memory_max > memory) {
		pr_err("memory_max must not be above this machine's %llu bytes\n", memory);
		return -EINVAL;
	}
	if (!furlong_shm_size || furlong_shm_size > memory_max) {
		pr_err("shm_size must be 1 to memory_max (%lu)\n", memory_max);
		return -EINVAL;
	}
	furlong_shm_size = PAGE_ALIGN(furlong_shm_size);
	/* At most 16 times 64 GiB and 16 times the machine's memory. */
	all = furlong_channels * (queue + furlong_shm_size);
	if (furlong_reserve(all, 0)) {
		pr_err("the channels would hold %llu bytes, and memory_max is %lu\n",
		       all, memory_max);
		return -EINVAL;
	}
	return 0;
}

int furlong_register(struct furlong_device *device, const char *kind, unsigned int number,
		     const struct file_operations *operations,
		     const struct attribute_group **groups)
{
	device->number = number;
	snprintf(device->name, sizeof(device->name), "furlong-%s%u", kind, number);
	device->misc.minor = MISC_DYNAMIC_MINOR;
	device->misc.name = device->name;
	device->misc.fops = operations;
	device->misc.groups = groups;
	device->misc.mode = 0660;
	return misc_register(&device->misc);
}

static int add_channel(unsigned int number)
{
	int error = furlong_message_add(number);

	if (error)
		return error;
	error = furlong_shm_add(number);
	if (error)
		furlong_message_remove(number);
	return error;
}

/* No process has a device open at this point, because an open device holds the module. */
static void remove_channels(unsigned int count)
{
	while (count--) {
		furlong_shm_remove(count);
		furlong_message_remove(count);
	}
}

static int __init furlong_init(void)
{
	int error = reserve_all();

	for (unsigned int number = 0; !error && number < furlong_channels; number++) {
		error = add_channel(number);
		if (error)
			remove_channels(number);
	}
	return error;
}

static void __exit furlong_exit(void)
{
	remove_channels(furlong_channels);
}

module_init(furlong_init);
module_exit(furlong_exit);

MODULE_DESCRIPTION("Message queues and shared memory with doorbells as character devices");
MODULE_AUTHOR("The furlong authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
