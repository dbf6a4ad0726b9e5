/* A UDP socket that reads and writes many datagrams a system call, one datagram a packet. Where the kernel has
   io_uring, the wait is the same call. One socket a process. */
#ifndef UDP_H
#define UDP_H

#include "options.h"

#include <stdint.h>
#include <sys/socket.h>

/* Room for one datagram; none on a path of MTU 1500 is larger. For the control message with its ECN bits. */
enum { UDP_DATAGRAM_BYTES = 1500, UDP_BATCH = 64, UDP_CONTROL_BYTES = CMSG_SPACE(sizeof(int)) };

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

/* Sends what is queued, then waits for a datagram, a signal (stop.h) or the timeout; < 0 waits for ever. Exits with 1
   on failure. */
void udp_wait(const struct udp *udp, long long timeout_ns);

/* Takes what has come by the end of the wait, UDP_BATCH datagrams at the most, valid until the next call or wait;
   returns how many, or -1 with errno set. Fewer than UDP_BATCH: no more are there. */
int udp_receive(const struct udp *udp, struct datagram list[UDP_BATCH]);

/* Where to write the next datagram to send. */
uint8_t *udp_room(const struct udp *udp);
/* The datagram there is size bytes for this peer: it goes out by the next wait or flush. */
void udp_queue(const struct udp *udp, size_t size, const struct sockaddr_storage *peer, socklen_t peer_length,
               uint8_t ecn);
/* Sends what is queued. A peer that is gone shows up when reading. */
void udp_flush(const struct udp *udp);

/* The two ECN bits of what a socket of udp_open has received. */
uint8_t udp_ecn(struct msghdr *header);

#endif
