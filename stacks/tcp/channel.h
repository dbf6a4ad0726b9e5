/* A byte stream over a non-blocking socket: raw, or inside TLS 1.3. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include "options.h"

#include <openssl/ssl.h>
#include <stddef.h>

struct channel {
    int descriptor;
    SSL *ssl; /* NULL = raw */
};

enum io {
    IO_OK,         /* moved at least one byte, or finished the step */
    IO_WANT_READ,  /* poll for POLLIN, then try again */
    IO_WANT_WRITE, /* poll for POLLOUT, then try again */
    IO_CLOSED,     /* the peer has ended its stream in order */
    IO_FAILED,     /* see channel_error() */
};

/* One for all of a process's channels; NULL for raw. Exits with 1 on a bad certificate or key. */
SSL_CTX *channel_context(const struct options *options);

struct channel channel_open(int descriptor, SSL_CTX *context, const struct options *options);
enum io channel_handshake(struct channel *channel);
enum io channel_read(struct channel *channel, void *buffer, size_t size, size_t *got);
/* Takes up to size bytes from the stream and throws them away. */
enum io channel_discard(struct channel *channel, uint64_t size, size_t *got);
enum io channel_write(struct channel *channel, const void *data, size_t size, size_t *put);
/* Ends our direction (close_notify and FIN); data already written still goes out. */
enum io channel_finish(struct channel *channel);
void channel_close(struct channel *channel);

/* Why the last call failed; valid until the next one. */
const char *channel_error(void);

#endif
