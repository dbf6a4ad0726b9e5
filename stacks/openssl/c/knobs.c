#include "knobs.h"

static const char *const CCAS[] = {"newreno", NULL};
static const char *const ALPNS[] = {"hq-interop", NULL};

const struct endpoint ENDPOINT = {.alpns = ALPNS, .ccas = CCAS, .certificate = true};
