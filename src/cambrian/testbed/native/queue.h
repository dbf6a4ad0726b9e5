/*
 * A drop-tail queue of packets, drained by the delivery opportunities of a Mahimahi link.
 *
 * Times are no concern of it: whoever owns the clock says when an opportunity has come.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PACKET_MAX_BYTES = 2048,      /* room for one IP packet; the MTU is below it */
	FRAME_HEADER_BYTES = 14,      /* counted on top of the IP packet, as the kernel's qdiscs do */
	LINK_HEADER_BYTES = 4,	      /* counted by Mahimahi on top of the IP packet: its TUN header */
	OPPORTUNITY_BYTES = 1500 + 4, /* PACKET_SIZE in Mahimahi's link_queue.hh */
};

struct packet {
	struct packet *next;
	size_t size; /* bytes of the IP packet */
	uint8_t data[PACKET_MAX_BYTES];
};

/* Packets, and their bytes as frames. */
struct tally {
	uint64_t packets, bytes;
};

struct queue {
	uint64_t limit_bytes;	   /* of frames waiting */
	struct tally waiting;	   /* without the one in transit */
	struct packet *head, *tail;
	struct packet *in_transit; /* partly sent, or NULL */
	size_t in_transit_left;	   /* bytes of it still to send, LINK_HEADER_BYTES included */
	struct packet *spare;	   /* for re-use, last freed first, so that memory stays warm */
	struct tally arrived, delivered, dropped;
};

typedef void deliver_fn(void *context, const struct packet *packet);

/* A packet to fill and then push, or give back; never NULL. */
struct packet *queue_spare(struct queue *queue);
void queue_return(struct queue *queue, struct packet *packet);

/* Takes the packet that queue_spare gave; false if it was dropped for want of room. */
bool queue_push(struct queue *queue, struct packet *packet);

/* Nothing waits and nothing is in transit. */
bool queue_empty(const struct queue *queue);

/*
 * Spends one delivery opportunity, as Mahimahi does: its bytes go to the packet in transit
 * and then to those waiting; a packet is delivered when its last byte is sent, the next may
 * be left partly sent, and what an empty queue leaves unspent is lost.
 */
void queue_serve(struct queue *queue, deliver_fn *deliver, void *context);

#endif
