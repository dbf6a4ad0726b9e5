#include "knobs.h"

#include <limits.h>

struct knobs knobs = {.sndbuf = 64 << 20, .rcvbuf = 8 << 20, .notsent_lowat = 256 << 10, .rcvlowat = 256 << 10};

static const struct knob KNOBS[] = {
    {"sndbuf", &knobs.sndbuf, 0, INT_MAX},
    {"rcvbuf", &knobs.rcvbuf, 0, INT_MAX},
    {"notsent_lowat", &knobs.notsent_lowat, 1, INT_MAX},
    {"rcvlowat", &knobs.rcvlowat, 1, INT_MAX},
    {"maxpacingrate", &knobs.maxpacingrate, 0, UINT64_MAX},
    {"poll_ms", &knobs.poll_ms, 0, 60000},
    {"nodelay", &knobs.nodelay, 0, 1},
    {"tls", &knobs.tls, 0, 1},
};

/* The kernel decides which congestion controllers there are. */
const struct endpoint ENDPOINT = {
    .alpns = (const char *const[]){"hq-interop", NULL},
    .knobs = KNOBS,
    .knob_count = sizeof KNOBS / sizeof KNOBS[0],
};
