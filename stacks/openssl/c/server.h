#ifndef SERVER_H
#define SERVER_H

#include "options.h"

/* Serves until SIGTERM; returns the exit status. */
int server_run(const struct options *options);

#endif
