/* One of a server's streams: reads a request, writes the body. */
#ifndef STREAM_H
#define STREAM_H

#include "hq.h"

#include <openssl/ssl.h>

struct stream {
    SSL *ssl;
    struct hq_request request;
    uint64_t left;
    enum { STREAM_REQUEST, STREAM_BODY, STREAM_SENT, STREAM_WRONG } step;
};

struct stream stream_open(SSL *ssl);

/* Goes as far as it can without waiting; returns how many body bytes OpenSSL has taken. */
uint64_t stream_drive(struct stream *stream);

#endif
