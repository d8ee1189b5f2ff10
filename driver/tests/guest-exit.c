// SPDX-License-Identifier: GPL-2.0
/*
 * guest-exit N - ends the emulated machine, and QEMU with 2 * N + 1.
 *
 * Writes to the port of QEMU's device isa-debug-exit. The kernel for clouds has
 * no /dev/port, so the port is written to from here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>

#define PORT 0xf4

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: guest-exit N\n");
		return 2;
	}
	if (ioperm(PORT, 1, 1)) {
		perror("guest-exit: ioperm");
		return 1;
	}
	outb(atoi(argv[1]), PORT);
	fprintf(stderr, "guest-exit: this machine has no isa-debug-exit\n");
	return 1;
}
