/* SIGTERM and SIGINT as a descriptor, so that a program which never has to
   wait sees them too (a ppoll that finds work at once delivers no signal). */
#ifndef STOP_H
#define STOP_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/* Before any wait: blocks both signals and opens the descriptor. SIGPIPE is ignored,
   and waits end on time to the nanosecond, not within the usual 50 µs of slack. Exits with 1 on failure. */
void stop_install(void);

bool stop_requested(void);

/* For who waits for it by other means than stop_poll: what is readable once a signal has come, and then says so. */
int stop_descriptor(void);
void stop_request(void);

/* Waits for descriptors[1 … count-1] or a signal: descriptors[0] is ours to
   fill in. timeout_ns < 0 waits for ever. Exits with 1 on failure. */
void stop_poll(struct pollfd *descriptors, nfds_t count, long long timeout_ns);

/* From now until then for stop_poll, both in nanoseconds; UINT64_MAX = never. */
long long stop_timeout(uint64_t then_ns, uint64_t now_ns);

#endif
