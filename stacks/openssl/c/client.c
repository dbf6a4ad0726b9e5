#include "client.h"

#include "bio.h"
#include "events.h"
#include "hq.h"
#include "quic.h"
#include "stop.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_TIMEOUT_MS 1200000

struct fetch {
    SSL *ssl;
    uint64_t asked, got;
    bool over;
};

struct client {
    const struct options *options;
    SSL *connection;
    struct fetch *streams;
    unsigned opened, finished;
    bool connected;
    uint64_t bytes;
    uint64_t next_progress_ns;
    char error[160]; /* "" = none */
};

static void fail(struct client *client, const char *why) {
    if (!client->error[0])
        snprintf(client->error, sizeof client->error, "%s", why);
}

static SSL *connect_to(const struct options *options, const struct udp *udp) {
    SSL *ssl = SSL_new(quic_context(options));
    if (!ssl)
        quic_fail("no connection");
    BIO *bio = bio_open(udp);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_default_stream_mode(ssl, SSL_DEFAULT_STREAM_MODE_NONE);
    SSL_set_tlsext_host_name(ssl, options->server_name);
    SSL_set_feature_request_uint(ssl, SSL_VALUE_QUIC_IDLE_TIMEOUT, IDLE_TIMEOUT_MS);
    quic_explicit(ssl);
    return ssl;
}

/* The next stream with its request, if the server allows one more by now. */
static bool open_stream(struct client *client) {
    SSL *ssl = SSL_new_stream(client->connection, SSL_STREAM_FLAG_NO_BLOCK | SSL_STREAM_FLAG_ADVANCE);
    if (!ssl)
        return false;
    struct fetch *stream = &client->streams[client->opened];
    char request[HQ_REQUEST_BYTES];
    size_t put;
    stream->asked = hq_share(client->options->bytes, client->options->streams, client->opened++);
    stream->ssl = ssl;
    quic_explicit(ssl);
    if (!SSL_write_ex(ssl, request, hq_write(request, stream->asked), &put) || !SSL_stream_conclude(ssl, 0))
        fail(client, "a request could not be sent");
    return true;
}

/* True if anything has come. */
static bool take(struct client *client, struct fetch *stream) {
    uint64_t before = stream->got;
    static char scratch[256 << 10];
    size_t got;
    ERR_clear_error();
    while (SSL_read_ex(stream->ssl, scratch, sizeof scratch, &got)) {
        stream->got += got;
        client->bytes += got;
    }
    switch (SSL_get_error(stream->ssl, 0)) {
    case SSL_ERROR_WANT_READ: return stream->got != before;
    case SSL_ERROR_ZERO_RETURN: break;
    default: fail(client, "a stream was reset"); break;
    }
    if (stream->got != stream->asked)
        fail(client, "a stream ended before its last byte");
    stream->over = true;
    client->finished++;
    return true;
}

static void report_progress(struct client *client) {
    enum { INTERVAL_NS = 1000000000 };
    uint64_t now = realtime_ns();
    if (now < client->next_progress_ns)
        return;
    if (client->next_progress_ns)
        event_progress(now, client->bytes);
    client->next_progress_ns = now + INTERVAL_NS;
}

static void shake_hands(struct client *client) {
    ERR_clear_error();
    int result = SSL_connect(client->connection);
    if (result == 1) {
        client->connected = true;
        event_connected();
        return;
    }
    int error = SSL_get_error(client->connection, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
        fail(client, ERR_reason_error_string(ERR_peek_last_error()));
}

/* True if OpenSSL has got something to do by it: a request or larger windows to send. */
static bool advance(struct client *client) {
    bool active = false;
    if (!client->connected)
        shake_hands(client);
    if (!client->connected)
        return false;
    while (client->opened < client->options->streams && open_stream(client))
        active = true;
    for (unsigned i = 0; i < client->opened; i++)
        if (!client->streams[i].over)
            active |= take(client, &client->streams[i]);
    report_progress(client);
    if (client->finished < client->options->streams && quic_closed(client->connection))
        fail(client, "the server closed the connection");
    return active;
}

int client_run(const struct options *options) {
    struct udp udp = udp_open(options);
    struct client client = {.options = options, .connection = connect_to(options, &udp)};
    client.streams = calloc(options->streams, sizeof *client.streams);
    if (!client.streams)
        quic_fail("out of memory");
    while (!stop_requested() && !client.error[0] && client.finished < options->streams) {
        /* Each turn of OpenSSL's may read datagrams too: only when they brought nothing is it time to wait. */
        if (advance(&client))
            SSL_handle_events(client.connection);
        else
            quic_turn(client.connection);
    }
    advance(&client);
    quic_close(client.connection, &udp);
    event_done(client.bytes, client.finished == options->streams && !client.error[0],
               client.error[0] ? client.error : NULL);
    if (client.error[0])
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, client.error);
    return client.error[0] ? 1 : 0;
}
