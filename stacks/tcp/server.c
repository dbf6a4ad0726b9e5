#include "server.h"

#include "address.h"
#include "channel.h"
#include "events.h"
#include "hq.h"
#include "knobs.h"
#include "sockets.h"
#include "stop.h"
#include "tcpinfo.h"
#include "transport_log.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Over a path as fast as we are a connection never has to wait: the others and SIGTERM get their turn. */
enum { STEPS_A_TURN = 64 };

enum step {
    STEP_HANDSHAKE,
    STEP_REQUEST,
    STEP_BODY,
    STEP_FINISH, /* all written: end our direction */
    STEP_LINGER, /* wait until the peer closes, so that the last counts are final */
    STEP_CLOSED,
};

struct connection {
    struct channel channel;
    enum step step;
    unsigned number; /* from 0, in order of arrival */
    short events;    /* what the step waits for */
    struct hq_request request;
    uint64_t body_left;
};

struct server {
    const struct options *options;
    SSL_CTX *context;
    struct connection *connections;
    struct pollfd *polled; /* [0] signals, [1] the listener, [2 + i] connections[i] */
    size_t count, capacity;
    unsigned accepted;
    uint64_t bytes_written; /* bodies only */
    bool incomplete;        /* some connection ended before its whole body was taken */
    FILE *log;              /* NULL = no polling */
    uint64_t next_sample_ns;
};

static enum io read_request(struct connection *connection) {
    size_t room, got;
    char *to = hq_room(&connection->request, &room);
    enum io result = channel_read(&connection->channel, to, room, &got);
    if (result != IO_OK)
        return result;
    switch (hq_taken(&connection->request, got, &connection->body_left)) {
    case HQ_MORE: return IO_OK;
    case HQ_READY: connection->step = STEP_BODY; return IO_OK;
    case HQ_WRONG: break;
    }
    fprintf(stderr, "cambrian-tcp: connection %u: not a request for GET /N\n", connection->number);
    return IO_CLOSED;
}

static enum io write_body(struct server *server, struct connection *connection) {
    size_t size = connection->body_left < HQ_BODY_BYTES ? connection->body_left : HQ_BODY_BYTES, put;
    enum io result = channel_write(&connection->channel, hq_body(), size, &put);
    connection->body_left -= put;
    server->bytes_written += put;
    if (connection->body_left == 0)
        connection->step = STEP_FINISH;
    /* A short write means that the backlog is full: the next would only say so. */
    return result == IO_OK && put < size && !connection->channel.ssl ? IO_WANT_WRITE : result;
}

static enum io linger(struct connection *connection) {
    size_t got;
    return channel_discard(&connection->channel, HQ_REQUEST_BYTES, &got);
}

static enum io advance(struct server *server, struct connection *connection) {
    char name[16];
    enum io result;
    switch (connection->step) {
    case STEP_HANDSHAKE:
        result = channel_handshake(&connection->channel);
        if (result == IO_OK) {
            event_connected();
            event_cca(server->options->cca, socket_cca(connection->channel.descriptor, name),
                      "getsockopt TCP_CONGESTION on the accepted socket");
            connection->step = STEP_REQUEST;
        }
        return result;
    case STEP_REQUEST: return read_request(connection);
    case STEP_BODY: return write_body(server, connection);
    case STEP_FINISH:
        result = channel_finish(&connection->channel);
        if (result == IO_OK)
            connection->step = STEP_LINGER;
        return result;
    case STEP_LINGER: return linger(connection);
    case STEP_CLOSED: break;
    }
    return IO_CLOSED;
}

static void end_connection(struct server *server, struct connection *connection) {
    if (connection->step != STEP_LINGER)
        server->incomplete = true;
    tcpinfo_print_stats(connection->channel.descriptor, connection->number);
    channel_close(&connection->channel);
    connection->step = STEP_CLOSED;
}

/* Goes on until the connection has to wait, is over, or has had its turn. */
static void drive(struct server *server, struct connection *connection) {
    enum io result = IO_OK;
    for (int i = 0; i < STEPS_A_TURN && result == IO_OK; i++)
        result = advance(server, connection);
    if (result == IO_CLOSED || result == IO_FAILED) {
        /* A peer that has all it wanted may leave as it likes. */
        if (result == IO_FAILED && connection->step != STEP_LINGER)
            fprintf(stderr, "cambrian-tcp: connection %u: %s\n", connection->number, channel_error());
        end_connection(server, connection);
        return;
    }
    /* After a full turn it is the body that goes on: its socket has room, so the poll returns at once. */
    connection->events = result == IO_WANT_READ ? POLLIN : POLLOUT;
}

static void *grow(void *array, size_t count, size_t size) {
    void *grown = realloc(array, count * size);
    if (!grown) {
        fputs("cambrian-tcp: out of memory\n", stderr);
        exit(1);
    }
    return grown;
}

static void take_arrivals(struct server *server, int listener) {
    int descriptor;
    while ((descriptor = socket_accept(listener)) >= 0) {
        if (server->count == server->capacity) {
            server->capacity = server->capacity ? 2 * server->capacity : 16;
            server->connections = grow(server->connections, server->capacity, sizeof *server->connections);
            server->polled = grow(server->polled, server->capacity + 2, sizeof *server->polled);
        }
        struct connection *connection = &server->connections[server->count++];
        *connection = (struct connection){
            .channel = channel_open(descriptor, server->context, server->options),
            .number = server->accepted++,
        };
        drive(server, connection);
    }
}

static void forget_closed(struct server *server) {
    size_t kept = 0;
    for (size_t i = 0; i < server->count; i++)
        if (server->connections[i].step != STEP_CLOSED)
            server->connections[kept++] = server->connections[i];
    server->count = kept;
}

/* Logs the oldest connection if its time has come; returns how long to wait for the next, < 0 = for ever. */
static long long sample_if_due(struct server *server) {
    if (!server->log || server->count == 0)
        return -1;
    uint64_t now = realtime_ns(), interval = knobs.log_every_ms * 1000000;
    if (now >= server->next_sample_ns) {
        tcpinfo_log_sample(server->log, server->connections[0].channel.descriptor);
        server->next_sample_ns = now - now % interval + interval;
    }
    return (long long)(server->next_sample_ns - now);
}

static void serve(struct server *server, int listener) {
    server->polled = grow(NULL, 2, sizeof *server->polled);
    server->polled[1] = (struct pollfd){.fd = listener, .events = POLLIN};
    while (!stop_requested()) {
        for (size_t i = 0; i < server->count; i++) {
            struct connection *connection = &server->connections[i];
            server->polled[i + 2] =
                (struct pollfd){.fd = connection->channel.descriptor, .events = connection->events};
        }
        size_t watched = server->count;
        stop_poll(server->polled, watched + 2, sample_if_due(server));
        for (size_t i = 0; i < watched; i++)
            if (server->polled[i + 2].revents)
                drive(server, &server->connections[i]);
        if (server->polled[1].revents)
            take_arrivals(server, listener);
        forget_closed(server);
    }
}

int server_run(const struct options *options) {
    struct server server = {.options = options, .context = channel_context(options)};
    int listener = socket_listen(options);
    if (options->transport_log && knobs.log_every_ms)
        server.log = transport_log_open(options->transport_log);
    event_ready(address_port(listener));
    serve(&server, listener);
    for (size_t i = 0; i < server.count; i++)
        end_connection(&server, &server.connections[i]);
    if (server.log && fclose(server.log)) {
        event_done(server.bytes_written, false, "the transport log could not be written");
        return 1;
    }
    event_done(server.bytes_written, server.accepted > 0 && !server.incomplete, NULL);
    return 0;
}
