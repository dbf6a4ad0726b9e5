#include "server.h"

#include "address.h"
#include "bio.h"
#include "controller.h"
#include "events.h"
#include "quic.h"
#include "stop.h"
#include "stream.h"
#include "transport_log.h"

#include <stdlib.h>

enum { MOST_CONNECTIONS = 64, MOST_STREAMS = 128 };

struct connection {
    SSL *ssl;
    struct controller *controller;
    bool connected;
    struct stream streams[MOST_STREAMS];
    unsigned stream_count;
};

struct server {
    const struct options *options;
    SSL *listener;
    FILE *log; /* NULL = none */
    struct connection *connections[MOST_CONNECTIONS];
    unsigned count;
    uint64_t bytes;
    unsigned requested, sent;
};

static void accept_connections(struct server *server) {
    while (server->count < MOST_CONNECTIONS) {
        SSL *ssl = SSL_accept_connection(server->listener, SSL_ACCEPT_CONNECTION_NO_BLOCK);
        if (!ssl)
            return;
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection)
            quic_fail("out of memory");
        quic_explicit(ssl);
        SSL_set_incoming_stream_policy(ssl, SSL_INCOMING_STREAM_POLICY_ACCEPT, 0);
        SSL_set_default_stream_mode(ssl, SSL_DEFAULT_STREAM_MODE_NONE);
        connection->ssl = ssl;
        connection->controller = controller_watch(ssl);
        server->connections[server->count++] = connection;
    }
}

static void accept_streams(struct connection *connection) {
    while (connection->stream_count < MOST_STREAMS) {
        SSL *ssl = SSL_accept_stream(connection->ssl, SSL_ACCEPT_STREAM_NO_BLOCK);
        if (!ssl)
            return;
        connection->streams[connection->stream_count++] = stream_open(ssl);
    }
}

static void tell_connected(const struct server *server, struct connection *connection) {
    if (connection->connected || !SSL_is_init_finished(connection->ssl))
        return;
    connection->connected = true;
    event_connected();
    event_cca(server->options->cca, controller_name(connection->controller),
              "the method table of the connection's controller");
}

/* True if OpenSSL now has bytes to send that it did not have. */
static bool drive(struct server *server, struct connection *connection) {
    uint64_t before = server->bytes;
    tell_connected(server, connection);
    accept_streams(connection);
    for (unsigned i = 0; i < connection->stream_count; i++) {
        struct stream *stream = &connection->streams[i];
        if (stream->step >= STREAM_SENT)
            continue;
        bool asked = stream->step == STREAM_BODY;
        server->bytes += stream_drive(stream);
        server->requested += !asked && stream->step != STREAM_REQUEST;
        server->sent += stream->step == STREAM_SENT;
    }
    if (server->log && connection->connected)
        controller_log(connection->controller, server->log);
    return server->bytes != before;
}

static void drop(struct server *server, unsigned index) {
    struct connection *connection = server->connections[index];
    for (unsigned i = 0; i < connection->stream_count; i++)
        SSL_free(connection->streams[i].ssl);
    SSL_free(connection->ssl);
    controller_free(connection->controller);
    free(connection);
    server->connections[index] = server->connections[--server->count];
}

static bool drive_all(struct server *server) {
    bool filled = false;
    accept_connections(server);
    for (unsigned i = 0; i < server->count; i++)
        filled |= drive(server, server->connections[i]);
    return filled;
}

static void serve(struct server *server) {
    while (!stop_requested()) {
        quic_turn(server->listener);
        /* Each turn of OpenSSL's may read datagrams too: only when they gave us nothing to do is it time to wait. */
        while (drive_all(server))
            SSL_handle_events(server->listener);
        for (unsigned i = server->count; i-- > 0;)
            if (quic_closed(server->connections[i]->ssl))
                drop(server, i);
    }
}

int server_run(const struct options *options) {
    static struct server server;
    struct udp udp = udp_open(options);
    server.options = options;
    server.log = options->transport_log ? transport_log_open(options->transport_log) : NULL;
    /* Without the Retry that proves a client's address, for a handshake of one round trip like everyone's. */
    server.listener = SSL_new_listener(quic_context(options), SSL_LISTENER_FLAG_NO_VALIDATE);
    if (!server.listener)
        quic_fail("no listener");
    BIO *bio = bio_open(&udp);
    SSL_set_bio(server.listener, bio, bio);
    quic_explicit(server.listener);
    if (!SSL_listen(server.listener))
        quic_fail("cannot listen");
    event_ready(address_port(udp.descriptor));
    serve(&server);
    for (unsigned i = 0; i < server.count; i++)
        quic_close(server.connections[i]->ssl, &udp);
    const char *error = NULL;
    if (server.log && fclose(server.log))
        error = "the transport log could not be written";
    event_done(server.bytes, server.requested > 0 && server.sent == server.requested, error);
    return error ? 1 : 0;
}
