/* What --set changes. */
#ifndef KNOBS_H
#define KNOBS_H

#include "options.h"

struct knobs {
    uint64_t send_buffer_bytes;           /* sender: SO_SNDBUF; 0 = the kernel's auto-tuning */
    uint64_t receive_buffer_bytes;        /* receiver: SO_RCVBUF; 0 = the kernel's auto-tuning */
    uint64_t notsent_lowat_bytes;         /* sender: TCP_NOTSENT_LOWAT */
    uint64_t rcvlowat_bytes;              /* receiver: SO_RCVLOWAT once data flows */
    uint64_t max_pacing_rate_bytes_per_s; /* sender: SO_MAX_PACING_RATE; 0 = unlimited */
    uint64_t log_every_ms;                /* sender: TCP_INFO into the transport log; 0 = never */
    uint64_t nodelay;                     /* boolean: TCP_NODELAY */
    uint64_t tls;                         /* boolean: TLS 1.3, or raw TCP */
};
extern struct knobs knobs;

/* This endpoint's part of the command line. */
extern const struct endpoint ENDPOINT;

#endif
