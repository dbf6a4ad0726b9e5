#include "server.h"

#include "address.h"
#include "connection.h"
#include "events.h"
#include "protocol.h"
#include "stop.h"
#include "transport_log.h"

#include <string.h>

enum { MOST_CONNECTIONS = 256 };

struct server {
    struct setup setup;
    struct connection *connections[MOST_CONNECTIONS];
    size_t count;
    struct connection *latest; /* that took a datagram, NULL = none */
    char error[128];           /* the first connection's that failed */
};

/* A connection is known by its IDs: its peer's address may change. */
static struct connection *find(const struct server *server, const struct datagram *datagram) {
    ngtcp2_version_cid ids;
    if (!datagram->size || ngtcp2_pkt_decode_version_cid(&ids, datagram->data, datagram->size, CID_BYTES))
        return NULL;
    if (server->latest && connection_answers(server->latest, ids.dcid, ids.dcidlen))
        return server->latest;
    for (size_t i = 0; i < server->count; i++)
        if (connection_answers(server->connections[i], ids.dcid, ids.dcidlen))
            return server->connections[i];
    return NULL;
}

static void take(struct server *server, const struct datagram *datagram, uint64_t now) {
    struct connection *connection = find(server, datagram);
    if (!connection && server->count < MOST_CONNECTIONS) {
        connection = connection_accept(&server->setup, datagram, now);
        if (connection)
            server->connections[server->count++] = connection;
    }
    if (!connection)
        return;
    server->latest = connection;
    connection_receive(connection, datagram, now);
}

static void take_all(struct server *server, uint64_t now) {
    struct datagram list[UDP_BATCH];
    int count;
    do {
        count = udp_receive(&server->setup.udp, list);
        for (int i = 0; i < count; i++)
            take(server, &list[i], now);
    } while (count == UDP_BATCH);
}

static void drop(struct server *server, size_t index) {
    struct connection *connection = server->connections[index];
    if (connection->error[0]) {
        fprintf(stderr, "connection: %s\n", connection->error);
        if (!server->error[0])
            memcpy(server->error, connection->error, sizeof server->error);
    }
    connection_report(connection);
    connection_free(connection);
    server->latest = NULL;
    server->connections[index] = server->connections[--server->count];
}

static void serve(struct server *server) {
    uint64_t now = monotonic_ns();
    while (!stop_requested()) {
        uint64_t expiry = UINT64_MAX;
        for (size_t i = 0; i < server->count; i++) {
            uint64_t at = connection_expiry(server->connections[i]);
            expiry = at < expiry ? at : expiry;
        }
        udp_wait(&server->setup.udp, stop_timeout(expiry, now));
        now = monotonic_ns();
        take_all(server, now);
        for (size_t i = 0; i < server->count; i++)
            connection_drive(server->connections[i], now);
        for (size_t i = server->count; i-- > 0;)
            if (server->connections[i]->over)
                drop(server, i);
    }
}

int server_run(const struct options *options) {
    static struct server server;
    const struct protocol *protocol = protocol_find(options->alpn);
    server.setup = (struct setup){
        .options = options,
        .application = protocol->application,
        .credentials = tls_credentials(options),
        .udp = udp_open(options),
        .realtime_ns = realtime_ns() - monotonic_ns(),
        .log = options->transport_log ? transport_log_open(options->transport_log) : NULL,
    };
    event_ready(address_port(server.setup.udp.descriptor));
    serve(&server);
    uint64_t now = monotonic_ns();
    while (server.count) {
        connection_close(server.connections[0], now);
        drop(&server, 0);
    }
    const char *error = server.error[0] ? server.error : NULL;
    if (server.setup.log && fclose(server.setup.log))
        error = "the transport log could not be written";
    event_done(protocol->bytes(), protocol->complete(), error);
    return error ? 1 : 0;
}
