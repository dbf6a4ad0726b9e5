#include "knobs.h"

#include <limits.h>

struct knobs knobs = {
    .send_buffer_bytes = 64 << 20,
    .receive_buffer_bytes = 8 << 20,
    .notsent_lowat_bytes = 256 << 10,
    .rcvlowat_bytes = 256 << 10,
};

static const struct knob KNOBS[] = {
    {"send_buffer_bytes", &knobs.send_buffer_bytes, 0, INT_MAX},
    {"receive_buffer_bytes", &knobs.receive_buffer_bytes, 0, INT_MAX},
    {"notsent_lowat_bytes", &knobs.notsent_lowat_bytes, 1, INT_MAX},
    {"rcvlowat_bytes", &knobs.rcvlowat_bytes, 1, INT_MAX},
    {"max_pacing_rate_bytes_per_s", &knobs.max_pacing_rate_bytes_per_s, 0, UINT64_MAX},
    {"log_every_ms", &knobs.log_every_ms, 0, 60000},
    {"nodelay", &knobs.nodelay, 0, 1},
    {"tls", &knobs.tls, 0, 1},
};

/* The kernel decides which congestion controllers there are. */
const struct endpoint ENDPOINT = {
    .alpns = (const char *const[]){"hq-interop", NULL},
    .knobs = KNOBS,
    .knob_count = sizeof KNOBS / sizeof KNOBS[0],
};
