/* Numeric addresses of the command line. */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "options.h"

#include <netdb.h>

/* The options' address and port for sockets of this type (SOCK_STREAM, SOCK_DGRAM); the
   caller frees it. Exits with EXIT_USAGE if they are not numeric. */
struct addrinfo *address_resolve(const struct options *options, int type);

/* The port that a socket is bound to; 0 if the kernel will not say. */
int address_port(int descriptor);

#endif
