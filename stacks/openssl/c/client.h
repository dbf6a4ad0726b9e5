#ifndef CLIENT_H
#define CLIENT_H

#include "options.h"

/* Fetches until all bytes have come or SIGTERM; returns the exit status. */
int client_run(const struct options *options);

#endif
