#include "h3_server.h"

#include "hq.h"
#include "page.h"

#include <inttypes.h>
#include <nghttp3/nghttp3.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024 };

/* One request, from its first header until its stream closes. */
struct request {
    char path[PATH_BYTES];
    bool get;
    struct page page;
    uint64_t left; /* of the body, not yet handed to nghttp3 */
};

static uint64_t bytes_written;
static unsigned requested, answered;

uint64_t h3_server_bytes(void) {
    return bytes_written;
}

bool h3_server_complete(void) {
    return requested > 0 && answered == requested;
}

static nghttp3_conn *http_of(struct connection *connection) {
    return connection->state;
}

static int begin_headers(nghttp3_conn *http, int64_t stream, void *user, void *stream_user) {
    (void)user, (void)stream_user;
    struct request *request = calloc(1, sizeof *request);
    if (!request)
        return NGHTTP3_ERR_CALLBACK_FAILURE;
    return nghttp3_conn_set_stream_user_data(http, stream, request);
}

static int header(nghttp3_conn *http, int64_t stream, int32_t token, nghttp3_rcbuf *name, nghttp3_rcbuf *value,
                  uint8_t flags, void *user, void *stream_user) {
    struct request *request = stream_user;
    nghttp3_vec text = nghttp3_rcbuf_get_buf(value);
    (void)http, (void)stream, (void)name, (void)flags, (void)user;
    if (token == NGHTTP3_QPACK_TOKEN__METHOD)
        request->get = text.len == 3 && !memcmp(text.base, "GET", 3);
    if (token == NGHTTP3_QPACK_TOKEN__PATH && text.len < PATH_BYTES)
        memcpy(request->path, text.base, text.len); /* the rest is zero */
    return 0;
}

/* The next piece of a body; nghttp3 keeps the pointer until the stream closes. */
static nghttp3_ssize body(nghttp3_conn *http, int64_t stream, nghttp3_vec *vectors, size_t count, uint32_t *flags,
                          void *user, void *stream_user) {
    struct request *request = stream_user;
    (void)http, (void)stream, (void)count, (void)user;
    const struct page *page = &request->page;
    uint64_t size = request->left;
    if (page->data) {
        vectors[0] = (nghttp3_vec){.base = page->data + (page->bytes - request->left), .len = size};
    } else {
        size = size < HQ_BODY_BYTES ? size : HQ_BODY_BYTES;
        vectors[0] = (nghttp3_vec){.base = (uint8_t *)hq_body(), .len = size};
    }
    request->left -= size;
    bytes_written += size;
    if (!request->left) {
        *flags |= NGHTTP3_DATA_FLAG_EOF;
        answered++;
    }
    return size ? 1 : 0;
}

static nghttp3_nv field(const char *name, const char *value) {
    return (nghttp3_nv){.name = (uint8_t *)name, .value = (uint8_t *)value,
                        .namelen = strlen(name), .valuelen = strlen(value)};
}

static int answer(nghttp3_conn *http, int64_t stream, void *user, void *stream_user) {
    struct request *request = stream_user;
    const struct connection *connection = user;
    char length[24];
    requested++;
    if (request->get)
        request->page = page_open(connection->setup->options->www, request->path);
    request->left = request->page.bytes;
    const char *status = !request->get ? "405" : request->page.found ? "200" : "404";
    snprintf(length, sizeof length, "%" PRIu64, request->page.bytes);
    nghttp3_nv fields[] = {field(":status", status), field("content-length", length),
                           field("content-type", request->page.found ? request->page.type : "text/plain")};
    nghttp3_data_reader reader = {.read_data = body};
    return nghttp3_conn_submit_response(http, stream, fields, sizeof fields / sizeof fields[0], &reader)
               ? NGHTTP3_ERR_CALLBACK_FAILURE
               : 0;
}

static int request_over(nghttp3_conn *http, int64_t stream, uint64_t error, void *user, void *stream_user) {
    struct request *request = stream_user;
    (void)http, (void)stream, (void)error, (void)user;
    if (request)
        page_free(&request->page);
    free(request);
    return 0;
}

static int stop_sending(nghttp3_conn *http, int64_t stream, uint64_t error, void *user, void *stream_user) {
    struct connection *connection = user;
    (void)http, (void)stream_user;
    return ngtcp2_conn_shutdown_stream_read(connection->quic, 0, stream, error) ? NGHTTP3_ERR_CALLBACK_FAILURE : 0;
}

static int reset_stream(nghttp3_conn *http, int64_t stream, uint64_t error, void *user, void *stream_user) {
    struct connection *connection = user;
    (void)http, (void)stream_user;
    return ngtcp2_conn_shutdown_stream_write(connection->quic, 0, stream, error) ? NGHTTP3_ERR_CALLBACK_FAILURE : 0;
}

static const nghttp3_callbacks HTTP_CALLBACKS = {
    .begin_headers = begin_headers,
    .recv_header = header,
    .end_stream = answer,
    .stream_close = request_over,
    .stop_sending = stop_sending,
    .reset_stream = reset_stream,
};

static bool ready(struct connection *connection) {
    nghttp3_settings settings;
    nghttp3_settings_default(&settings);
    int64_t control, encoder, decoder;
    nghttp3_conn *http;
    if (nghttp3_conn_server_new(&http, &HTTP_CALLBACKS, &settings, nghttp3_mem_default(), connection))
        return false;
    connection->state = http;
    nghttp3_conn_set_max_client_streams_bidi(http, MOST_STREAMS);
    return !ngtcp2_conn_open_uni_stream(connection->quic, &control, NULL) &&
           !ngtcp2_conn_open_uni_stream(connection->quic, &encoder, NULL) &&
           !ngtcp2_conn_open_uni_stream(connection->quic, &decoder, NULL) &&
           !nghttp3_conn_bind_control_stream(http, control) &&
           !nghttp3_conn_bind_qpack_streams(http, encoder, decoder);
}

static int64_t next(struct connection *connection, ngtcp2_vec *vectors, size_t *count, bool *fin) {
    int64_t stream = -1;
    int end = 0;
    /* nghttp3 and ngtcp2 lay a vector out alike, which their own examples rely on too. */
    nghttp3_ssize got =
        nghttp3_conn_writev_stream(http_of(connection), &stream, &end, (nghttp3_vec *)vectors, *count);
    if (got < 0)
        return -1;
    *count = (size_t)got;
    *fin = end;
    return stream;
}

static bool wrote(struct connection *connection, int64_t stream, size_t bytes, bool fin) {
    (void)fin;
    return !nghttp3_conn_add_write_offset(http_of(connection), stream, bytes);
}

static bool blocked(struct connection *connection, int64_t stream, bool for_ever) {
    if (for_ever)
        nghttp3_conn_shutdown_stream_write(http_of(connection), stream);
    else
        nghttp3_conn_block_stream(http_of(connection), stream);
    return true;
}

static bool unblocked(struct connection *connection, int64_t stream) {
    return !connection->state || !nghttp3_conn_unblock_stream(http_of(connection), stream);
}

static bool received(struct connection *connection, int64_t stream, const uint8_t *data, size_t size, bool fin) {
    return nghttp3_conn_read_stream(http_of(connection), stream, data, size, fin) >= 0;
}

static bool acknowledged(struct connection *connection, int64_t stream, uint64_t bytes) {
    return !connection->state || !nghttp3_conn_add_ack_offset(http_of(connection), stream, bytes);
}

static bool closed(struct connection *connection, int64_t stream, uint64_t error) {
    int result = nghttp3_conn_close_stream(http_of(connection), stream, error ? error : NGHTTP3_H3_NO_ERROR);
    return !result || result == NGHTTP3_ERR_STREAM_NOT_FOUND;
}

static bool reset(struct connection *connection, int64_t stream) {
    return !nghttp3_conn_shutdown_stream_read(http_of(connection), stream);
}

static void end(struct connection *connection) {
    nghttp3_conn_del(http_of(connection));
}

const struct application H3_SERVER = {
    .ready = ready,
    .next = next,
    .wrote = wrote,
    .blocked = blocked,
    .unblocked = unblocked,
    .received = received,
    .acknowledged = acknowledged,
    .closed = closed,
    .reset = reset,
    .end = end,
};
