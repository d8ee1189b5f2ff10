/* Tests the stamps with ../stamps.json, which furlong's own code made. */

#include "protocol.h"

static void expect(bool holds, const char *line, const char *what)
{
	if (!holds) {
		fprintf(stderr, "%s: %s", what, line);
		exit(1);
	}
}

int main(void)
{
	FILE *file = fopen("../stamps.json", "r");
	char line[512], word[24], digits[300];
	unsigned char sent[128], message[128], compared[128];
	struct work work = { .incoming = message, .sent = compared, .verify = true };
	int vectors = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (!value_of(line, "stamp"))
			continue;
		vectors++;
		copy_text(value_of(line, "stamp"), word, sizeof(word));
		copy_text(value_of(line, "bytes"), digits, sizeof(digits));
		uint64_t stamp = strtoull(word, NULL, 16), number = number_of(line, "number");
		size_t size = number_of(line, "length");

		for (size_t i = 0; i < size; i++) {
			char byte[3] = { digits[2 * i], digits[2 * i + 1], '\0' };

			sent[i] = (unsigned char)strtoul(byte, NULL, 16);
		}
		work.set_up.other_stamp = stamp;
		work.set_up.other_size = size;
		stamp_write_all(stamp, message, size, (uint32_t)number);
		expect(memcmp(message, sent, size) == 0, line, "other bytes");
		expect(check_message(&work, size, number) == 0, line, "not held");
		for (size_t at = 0; at < size; at++) {
			message[at] ^= 0x80;
			expect(check_message(&work, size, number) < 0, line, "a flipped byte holds");
			expect(size < 8 || strcmp(work.failure.fault, "flipped") == 0, line, work.failure.fault);
			message[at] ^= 0x80;
		}
		expect(check_message(&work, size - 1, number) < 0, line, "a short message holds");
		expect(strcmp(work.failure.fault, "truncated") == 0, line, work.failure.fault);
		stamp_write(stamp, message, size, (uint32_t)number + 1);
		expect(check_message(&work, size, number) < 0, line, "the next message holds");
		expect(strcmp(work.failure.fault, "lost") == 0, line, work.failure.fault);
		stamp_write(stamp, message, size, (uint32_t)number - 1);
		expect(check_message(&work, size, number) < 0, line, "the message before holds");
		expect(strcmp(work.failure.fault, "repeated") == 0, line, work.failure.fault);
	}
	printf("%d vectors\n", vectors);
	return vectors == 0;
}
