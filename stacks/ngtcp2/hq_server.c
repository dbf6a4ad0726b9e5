#include "hq_server.h"

#include "hq.h"

#include <stdlib.h>
#include <string.h>

/* One stream of a connection; they take turns, a packet each. */
struct stream {
    int64_t id;
    struct hq_request request;
    uint64_t left;
    bool answering; /* the request has come */
    bool blocked;   /* by the peer's window, until it says more */
    bool finished;  /* all bytes and the end are written */
    struct stream *next;
};

struct hq_connection {
    struct stream *streams;
    struct stream *turn; /* whose turn was last; NULL = nobody's */
};

static uint64_t bytes_written;
static unsigned answered, requested;

uint64_t hq_server_bytes(void) {
    return bytes_written;
}

bool hq_server_complete(void) {
    return requested > 0 && answered == requested;
}

static bool ready(struct connection *connection) {
    connection->state = calloc(1, sizeof(struct hq_connection));
    return connection->state != NULL;
}

static struct stream *find(const struct hq_connection *hq, int64_t id) {
    struct stream *stream = hq->streams;
    while (stream && stream->id != id)
        stream = stream->next;
    return stream;
}

static struct stream *add(struct hq_connection *hq, int64_t id) {
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->id = id;
    stream->next = hq->streams;
    hq->streams = stream;
    return stream;
}

static bool wants(const struct stream *stream) {
    return stream->answering && !stream->blocked && !stream->finished;
}

static int64_t next(struct connection *connection, ngtcp2_vec *vectors, size_t *count, bool *fin) {
    struct hq_connection *hq = connection->state;
    struct stream *from = hq->turn && hq->turn->next ? hq->turn->next : hq->streams;
    for (struct stream *stream = from; stream;) {
        if (wants(stream)) {
            size_t size = stream->left < HQ_BODY_BYTES ? stream->left : HQ_BODY_BYTES;
            vectors[0] = (ngtcp2_vec){.base = (uint8_t *)hq_body(), .len = size};
            *count = 1;
            *fin = size == stream->left;
            hq->turn = stream;
            return stream->id;
        }
        stream = stream->next ? stream->next : hq->streams;
        if (stream == from)
            break;
    }
    return -1;
}

static bool wrote(struct connection *connection, int64_t id, size_t bytes, bool fin) {
    struct stream *stream = find(connection->state, id);
    stream->left -= bytes;
    bytes_written += bytes;
    stream->finished = fin && stream->left == 0;
    answered += stream->finished;
    return true;
}

static bool blocked(struct connection *connection, int64_t id, bool for_ever) {
    struct stream *stream = find(connection->state, id);
    stream->blocked = true;
    stream->finished |= for_ever;
    return true;
}

static bool unblocked(struct connection *connection, int64_t id) {
    struct stream *stream = connection->state ? find(connection->state, id) : NULL;
    if (stream)
        stream->blocked = false;
    return true;
}

static bool received(struct connection *connection, int64_t id, const uint8_t *data, size_t size, bool fin) {
    struct hq_connection *hq = connection->state;
    struct stream *stream = find(hq, id);
    (void)fin;
    if (!stream && !(stream = add(hq, id)))
        return false;
    if (stream->answering)
        return true;
    switch (hq_feed(&stream->request, data, size, &stream->left)) {
    case HQ_MORE: break;
    case HQ_READY:
        stream->answering = true;
        requested++;
        break;
    case HQ_WRONG: fprintf(stderr, "stream %lld: not a request for GET /N\n", (long long)id); return false;
    }
    return true;
}

static bool closed(struct connection *connection, int64_t id, uint64_t error) {
    struct hq_connection *hq = connection->state;
    struct stream **link = &hq->streams;
    while (*link && (*link)->id != id)
        link = &(*link)->next;
    struct stream *stream = *link;
    if (!stream)
        return true;
    (void)error;
    *link = stream->next;
    hq->turn = NULL;
    free(stream);
    return true;
}

static void end(struct connection *connection) {
    struct hq_connection *hq = connection->state;
    while (hq->streams) {
        struct stream *stream = hq->streams;
        hq->streams = stream->next;
        free(stream);
    }
    free(hq);
}

const struct application HQ_SERVER = {
    .ready = ready,
    .next = next,
    .wrote = wrote,
    .blocked = blocked,
    .unblocked = unblocked,
    .received = received,
    .closed = closed,
    .end = end,
};
