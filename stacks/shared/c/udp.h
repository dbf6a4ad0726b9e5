/* A UDP socket that reads and writes many datagrams a system call, one datagram a packet. */
#ifndef UDP_H
#define UDP_H

#include "options.h"

#include <stdint.h>
#include <sys/socket.h>

/* Room for one datagram; none on a path of MTU 1500 is larger. */
enum { UDP_DATAGRAM_BYTES = 1500, UDP_BATCH = 64 };

struct udp {
    int descriptor;
    struct sockaddr_storage local;
    socklen_t local_length;
};

struct datagram {
    const uint8_t *data;
    size_t size;
    const struct sockaddr_storage *peer;
    socklen_t peer_length;
    uint8_t ecn; /* the two ECN bits of the IP header */
};

/* Bound to the options' address (server), or connected to it (client). Don't-fragment is set, ECN
   is read. Prints why not and exits with 1. */
struct udp udp_open(const struct options *options);

/* Takes what waits, UDP_BATCH datagrams at the most, valid until the next call; returns how many,
   or -1 with errno set. */
int udp_receive(const struct udp *udp, struct datagram list[UDP_BATCH]);

/* Where to write the next datagram to send. */
uint8_t *udp_room(const struct udp *udp);
/* The datagram there is size bytes for this peer: it goes out by the next flush. */
void udp_queue(const struct udp *udp, size_t size, const struct sockaddr_storage *peer, socklen_t peer_length,
               uint8_t ecn);
/* Sends what is queued. A peer that is gone shows up when reading. */
void udp_flush(const struct udp *udp);

#endif
