/* Sockets that are never the limit of a transfer. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "options.h"

/* All return non-blocking descriptors, or print why not and exit with 1
   (127 for a congestion controller that the kernel lacks). */
int socket_listen(const struct options *options);
int socket_connect(const struct options *options);
/* -1 when nobody waits. */
int socket_accept(int listener);

/* The congestion controller in use, into name[16]; NULL if the kernel will not say. */
const char *socket_cca(int descriptor, char name[16]);
/* What the kernel offers, into list, names apart by spaces; "" if it will not say. */
const char *socket_ccas(char *list, int size);

/* From now on wake the reader only when so much waits, or the stream has ended. */
void socket_wake_at(int descriptor, uint64_t bytes);

#endif
