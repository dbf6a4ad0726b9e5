/* What --set changes. */
#ifndef KNOBS_H
#define KNOBS_H

#include "options.h"

struct knobs {
    uint64_t sndbuf;        /* bytes, sender: SO_SNDBUF */
    uint64_t rcvbuf;        /* bytes, receiver: SO_RCVBUF */
    uint64_t notsent_lowat; /* bytes, sender: TCP_NOTSENT_LOWAT */
    uint64_t rcvlowat;      /* bytes, receiver: SO_RCVLOWAT once data flows */
    uint64_t maxpacingrate; /* bytes per second, sender: SO_MAX_PACING_RATE; 0 = unlimited */
    uint64_t poll_ms;       /* sender: TCP_INFO into the transport log every so often; 0 = never */
    uint64_t nodelay;       /* TCP_NODELAY */
    uint64_t tls;           /* 1 = TLS 1.3, 0 = raw */
};
extern struct knobs knobs;

/* This endpoint's part of the command line. */
extern const struct endpoint ENDPOINT;

#endif
