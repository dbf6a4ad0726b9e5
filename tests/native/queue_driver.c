/*
 * Drives the trace link's queue from a script, for test_queue.py.
 *
 *   queue_driver LIMIT_BYTES < script
 *
 * "push SIZE" offers the next packet (numbered from 0, SIZE bytes of IP): prints "drop N"
 * if it was refused. "serve" spends an opportunity: prints "deliver N" for each packet that
 * leaves. At the end: "counts" arrived delivered dropped waiting in_transit.
 */
#include "queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_delivery(void *context, const struct packet *packet)
{
	unsigned int number;

	(void)context;
	memcpy(&number, packet->data, sizeof(number));
	printf("deliver %u\n", number);
}

int main(int argc, char **argv)
{
	struct queue queue = { .limit_bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0 };
	unsigned int number = 0;
	char word[8];

	while (scanf("%7s", word) == 1) {
		struct packet *packet;

		if (!strcmp(word, "serve")) {
			queue_serve(&queue, print_delivery, NULL);
			continue;
		}
		packet = queue_spare(&queue);
		if (scanf("%zu", &packet->size) != 1)
			return 2;
		memcpy(packet->data, &number, sizeof(number));
		if (!queue_push(&queue, packet))
			printf("drop %u\n", number);
		number++;
	}
	printf("counts %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", queue.arrived.packets,
	       queue.delivered.packets, queue.dropped.packets, queue.waiting.packets,
	       queue.in_transit != NULL);
	return 0;
}
