/* This endpoint's part of the command line: OpenSSL's QUIC has nothing to turn. */
#ifndef KNOBS_H
#define KNOBS_H

#include "options.h"

extern const struct endpoint ENDPOINT;

#endif
