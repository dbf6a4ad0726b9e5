/* OpenSSL's QUIC on one thread: the application waits, and OpenSSL works when it is told to. */
#ifndef QUIC_H
#define QUIC_H

#include "options.h"
#include "udp.h"

#include <openssl/ssl.h>

/* All of a process's connections' settings; exits with 1 on a bad certificate or key. */
SSL_CTX *quic_context(const struct options *options);

/* Non-blocking, and no call but SSL_handle_events touches the network. Exits with 1 on failure. */
void quic_explicit(SSL *ssl);

/* Prints what failed with OpenSSL's reason, and exits with 1. */
__attribute__((noreturn)) void quic_fail(const char *what);

/* Sends what OpenSSL has written, waits for a datagram, SSL's next timer or a signal, whichever comes first, then lets
   OpenSSL read, run its timers and write. */
void quic_turn(SSL *ssl);

/* Tells the peer of a connection that it is over. */
void quic_close(SSL *connection, const struct udp *udp);

/* Whether the connection has ended, by either side or by a timeout. */
bool quic_closed(SSL *connection);

#endif
