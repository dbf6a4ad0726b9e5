#include "knobs.h"

#include "compat.h"

struct knobs knobs = {.path_mtu_discovery = 1};

static const struct knob KNOBS[] = {
    {"path_mtu_discovery", &knobs.path_mtu_discovery, 0, 1},
};

#if COMPAT_HAS_BBR2
static const char *const CCAS[] = {"cubic", "reno", "bbr", "bbr2", NULL};
#else
static const char *const CCAS[] = {"cubic", "reno", "bbr", NULL};
#endif

#if WITH_HTTP3
static const char *const ALPNS[] = {"hq-interop", "h3", NULL};
#else
static const char *const ALPNS[] = {"hq-interop", NULL};
#endif

const struct endpoint ENDPOINT = {
    .alpns = ALPNS,
    .ccas = CCAS,
    .certificate = true,
    .pages = WITH_HTTP3,
    .knobs = KNOBS,
    .knob_count = sizeof KNOBS / sizeof KNOBS[0],
};
