/* What OpenSSL's congestion controller says of itself, by its own diagnostic hooks. They are
   internal to the library (include/internal/quic_cc.h), which is linked in from its source. */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#include <openssl/ssl.h>
#include <stdio.h>

struct controller;

/* Of a server's connection; lives as long as the connection. Exits with 1 if memory runs out. */
struct controller *controller_watch(SSL *connection);

/* The controller that runs, or NULL for one that we do not know. */
const char *controller_name(const struct controller *controller);

/* Appends a row if anything has changed. */
void controller_log(struct controller *controller, FILE *log);

void controller_free(struct controller *controller);

#endif
