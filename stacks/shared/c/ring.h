/* A UDP socket by io_uring: one system call sends, waits and receives. */
#ifndef RING_H
#define RING_H

#include "udp.h"

/* Starts to receive from the socket; false where the kernel refuses (no io_uring, or one before Linux 6.1). */
bool ring_open(int socket);

/* Sends these datagrams, then waits for one, a signal (stop.h) or the timeout; < 0 waits for ever. What is to be
   sent is read until the next ring_receive. Exits with 1 on failure. */
void ring_wait(struct mmsghdr *headers, unsigned count, long long timeout_ns);

/* As udp_receive. A system call only if more has come than the wait has told. */
int ring_receive(struct datagram list[UDP_BATCH]);

#endif
