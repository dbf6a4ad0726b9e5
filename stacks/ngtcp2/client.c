#include "client.h"

#include "connection.h"
#include "events.h"
#include "hq.h"
#include "stop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stream {
    int64_t id;
    char request[HQ_REQUEST_BYTES];
    size_t length, sent;
    uint64_t asked, got;
    bool finished; /* the whole body has come, or the stream ended before */
};

struct client {
    const struct options *options;
    struct stream *streams;
    unsigned opened, finished;
    uint64_t bytes;
    uint64_t next_progress_ns; /* CLOCK_REALTIME; 0 = not yet connected */
};
static struct client client;

static struct stream *find(int64_t id) {
    for (unsigned i = 0; i < client.opened; i++)
        if (client.streams[i].id == id)
            return &client.streams[i];
    return NULL;
}

/* As many streams as are wanted and allowed by now. */
static bool open_streams(struct connection *connection) {
    while (client.opened < client.options->streams) {
        struct stream *stream = &client.streams[client.opened];
        if (ngtcp2_conn_open_bidi_stream(connection->quic, &stream->id, NULL))
            break;
        stream->asked = hq_share(client.options->bytes, client.options->streams, client.opened);
        stream->length = hq_write(stream->request, stream->asked);
        client.opened++;
    }
    return true;
}

static int64_t next(struct connection *connection, ngtcp2_vec *vectors, size_t *count, bool *fin) {
    (void)connection;
    for (unsigned i = 0; i < client.opened; i++) {
        struct stream *stream = &client.streams[i];
        if (stream->sent < stream->length) {
            vectors[0] = (ngtcp2_vec){.base = (uint8_t *)stream->request + stream->sent,
                                      .len = stream->length - stream->sent};
            *count = 1;
            *fin = true;
            return stream->id;
        }
    }
    return -1;
}

static bool wrote(struct connection *connection, int64_t id, size_t bytes, bool fin) {
    (void)connection, (void)fin;
    find(id)->sent += bytes;
    return true;
}

/* A request of a few bytes for which there is no room: the server is none of ours. */
static bool blocked(struct connection *connection, int64_t id, bool for_ever) {
    (void)connection, (void)id, (void)for_ever;
    return false;
}

static bool received(struct connection *connection, int64_t id, const uint8_t *data, size_t size, bool fin) {
    struct stream *stream = find(id);
    (void)data;
    if (!stream)
        return true;
    stream->got += size;
    client.bytes += size;
    if (fin) {
        stream->finished = true;
        client.finished++;
        if (stream->got != stream->asked && !connection->error[0])
            snprintf(connection->error, sizeof connection->error, "a stream ended before its last byte");
    }
    return true;
}

static bool closed(struct connection *connection, int64_t id, uint64_t error) {
    struct stream *stream = find(id);
    (void)error;
    if (stream && !stream->finished && !connection->error[0])
        snprintf(connection->error, sizeof connection->error, "a stream was reset");
    return true;
}

static const struct application HQ_CLIENT = {
    .ready = open_streams,
    .next = next,
    .wrote = wrote,
    .blocked = blocked,
    .received = received,
    .closed = closed,
    .more_streams = open_streams,
};

static void report_progress(const struct setup *setup, const struct connection *connection, uint64_t now) {
    enum { INTERVAL_NS = 1000000000 };
    uint64_t time_ns = now + setup->realtime_ns;
    if (!connection->connected || time_ns < client.next_progress_ns)
        return;
    if (client.next_progress_ns)
        event_progress(time_ns, client.bytes);
    client.next_progress_ns = time_ns + INTERVAL_NS;
}

/* False when the socket itself fails: nobody is there. */
static bool take_all(const struct setup *setup, struct connection *connection, uint64_t now) {
    struct datagram list[UDP_BATCH];
    int count;
    do {
        count = udp_receive(&setup->udp, list);
        for (int i = 0; i < count; i++)
            connection_receive(connection, &list[i], now);
    } while (count == UDP_BATCH);
    return count >= 0;
}

static void fetch(const struct setup *setup, struct connection *connection) {
    uint64_t now = monotonic_ns();
    while (!stop_requested() && !connection->over && client.finished < setup->options->streams) {
        connection_drive(connection, now);
        udp_wait(&setup->udp, stop_timeout(connection_expiry(connection), now));
        now = monotonic_ns();
        if (!take_all(setup, connection, now)) {
            snprintf(connection->error, sizeof connection->error, "%s", strerror(errno));
            break;
        }
        report_progress(setup, connection, now);
    }
}

int client_run(const struct options *options) {
    struct setup setup = {
        .options = options,
        .application = &HQ_CLIENT,
        .credentials = tls_credentials(options),
        .udp = udp_open(options),
        .realtime_ns = realtime_ns() - monotonic_ns(),
    };
    client.options = options;
    client.streams = calloc(options->streams, sizeof *client.streams);
    if (!client.streams) {
        fputs("out of memory\n", stderr);
        return 1;
    }
    struct connection *connection = connection_connect(&setup, monotonic_ns());
    fetch(&setup, connection);
    bool complete = client.finished == options->streams && !connection->error[0];
    if (connection->over && !complete && !connection->error[0])
        snprintf(connection->error, sizeof connection->error, "the server closed the connection");
    connection_close(connection, monotonic_ns());
    event_done(client.bytes, complete, connection->error[0] ? connection->error : NULL);
    if (connection->error[0])
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, connection->error);
    return connection->error[0] ? 1 : 0;
}
