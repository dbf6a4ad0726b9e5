/* What --set changes, and this endpoint's part of the command line. */
#ifndef KNOBS_H
#define KNOBS_H

#include "options.h"

struct knobs {
    uint64_t mtu_discovery; /* 1 = the library probes for larger packets, up to 1472 bytes of UDP payload */
};
extern struct knobs knobs;

extern const struct endpoint ENDPOINT;

#endif
