#include "queue.h"

#include <stdio.h>
#include <stdlib.h>

static void count(struct tally *tally, const struct packet *packet)
{
	tally->packets++;
	tally->bytes += packet->size + FRAME_HEADER_BYTES;
}

void queue_return(struct queue *queue, struct packet *packet)
{
	packet->next = queue->spare;
	queue->spare = packet;
}

struct packet *queue_spare(struct queue *queue)
{
	struct packet *packet = queue->spare;

	if (packet) {
		queue->spare = packet->next;
		return packet;
	}
	packet = malloc(sizeof(*packet));
	if (!packet) {
		fprintf(stderr, "tracelink: out of memory\n");
		exit(1);
	}
	return packet;
}

bool queue_push(struct queue *queue, struct packet *packet)
{
	count(&queue->arrived, packet);
	if (queue->waiting.bytes + packet->size + FRAME_HEADER_BYTES > queue->limit_bytes) {
		count(&queue->dropped, packet);
		queue_return(queue, packet);
		return false;
	}
	packet->next = NULL;
	if (queue->head)
		queue->tail->next = packet;
	else
		queue->head = packet;
	queue->tail = packet;
	count(&queue->waiting, packet);
	return true;
}

bool queue_empty(const struct queue *queue)
{
	return !queue->head && !queue->in_transit;
}

static void begin_next(struct queue *queue)
{
	struct packet *packet = queue->head;

	queue->head = packet->next;
	queue->waiting.packets--;
	queue->waiting.bytes -= packet->size + FRAME_HEADER_BYTES;
	queue->in_transit = packet;
	queue->in_transit_left = packet->size + LINK_HEADER_BYTES;
}

void queue_serve(struct queue *queue, deliver_fn *deliver, void *context)
{
	size_t budget = OPPORTUNITY_BYTES;

	while (budget && !queue_empty(queue)) {
		if (!queue->in_transit)
			begin_next(queue);
		if (queue->in_transit_left > budget) {
			queue->in_transit_left -= budget;
			return;
		}
		budget -= queue->in_transit_left;
		count(&queue->delivered, queue->in_transit);
		deliver(context, queue->in_transit);
		queue_return(queue, queue->in_transit);
		queue->in_transit = NULL;
	}
}
