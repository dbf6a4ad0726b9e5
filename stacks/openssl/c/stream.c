#include "stream.h"

#include "quic.h"

#include <openssl/err.h>

/* What OpenSSL keeps of a stream, to send and to send again, grows up to its own maximum
   (ssl/quic/quic_impl.c, MAX_WRITE_BUF_SIZE): filled to that, so that cwnd is the limit and not we.
   Topped up when so much of it is free. */
enum { WRITE_BUFFER_BYTES = 6 << 20, REFILL_BYTES = 1 << 20 };

struct stream stream_open(SSL *ssl) {
    quic_explicit(ssl);
    return (struct stream){.ssl = ssl};
}

static void read_request(struct stream *stream) {
    size_t room, got;
    char *to = hq_room(&stream->request, &room);
    ERR_clear_error();
    if (!SSL_read_ex(stream->ssl, to, room, &got))
        return;
    switch (hq_taken(&stream->request, got, &stream->left)) {
    case HQ_MORE: break;
    case HQ_READY: stream->step = STREAM_BODY; break;
    case HQ_WRONG: stream->step = STREAM_WRONG; break;
    }
}

static uint64_t room(const struct stream *stream) {
    uint64_t used = 0;
    SSL_get_generic_value_uint(stream->ssl, SSL_VALUE_STREAM_WRITE_BUF_USED, &used);
    return used < WRITE_BUFFER_BYTES ? WRITE_BUFFER_BYTES - used : 0;
}

static uint64_t write_body(struct stream *stream) {
    uint64_t available = room(stream), written = 0;
    if (available < REFILL_BYTES && available < stream->left)
        return 0;
    while (stream->left && available) {
        size_t size = HQ_BODY_BYTES, put;
        size = size < stream->left ? size : stream->left;
        size = size < available ? size : available;
        ERR_clear_error();
        if (!SSL_write_ex(stream->ssl, hq_body(), size, &put))
            return written;
        stream->left -= put;
        available -= put;
        written += put;
    }
    if (!stream->left && SSL_stream_conclude(stream->ssl, 0))
        stream->step = STREAM_SENT;
    return written;
}

uint64_t stream_drive(struct stream *stream) {
    if (stream->step == STREAM_REQUEST)
        read_request(stream);
    return stream->step == STREAM_BODY ? write_body(stream) : 0;
}
