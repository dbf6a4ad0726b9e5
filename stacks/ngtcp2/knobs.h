/* What --set changes, and this endpoint's part of the command line. */
#ifndef KNOBS_H
#define KNOBS_H

#include "options.h"

struct knobs {
    uint64_t path_mtu_discovery; /* the library probes for larger packets, up to 1444 bytes of UDP payload */
};
extern struct knobs knobs;

extern const struct endpoint ENDPOINT;

#endif
