#include "client.h"

#include "channel.h"
#include "events.h"
#include "hq.h"
#include "knobs.h"
#include "sockets.h"
#include "stop.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define PROGRESS_INTERVAL_NS UINT64_C(1000000000)

/* Over a path as fast as we are a stream never has to wait: the others and SIGTERM get their turn. */
enum { STEPS_A_TURN = 64 };

/* More than a record, which OpenSSL may hold until its last byte comes. */
enum { TLS_AHEAD_BYTES = 64 << 10 };

enum step { STEP_HANDSHAKE, STEP_REQUEST, STEP_BODY, STEP_CLOSED };

struct stream {
    struct channel channel;
    enum step step;
    short events;   /* what the step waits for */
    bool ready;     /* its turn ended early: TLS may hold bytes that no poll can see */
    uint64_t asked; /* body bytes */
    uint64_t got;
    uint64_t wakes_at_bytes; /* as many must wait before a poll tells */
};

struct client {
    const struct options *options;
    struct stream *streams;
    struct pollfd *polled; /* [0] signals, [1 + i] streams[i] */
    unsigned open;
    unsigned connected;
    uint64_t bytes;
    bool done; /* the last line is out */
    uint64_t next_progress_ns;
    char error[256]; /* the first failure; "" = none */
};

static enum io send_request(struct stream *stream) {
    char request[HQ_REQUEST_BYTES];
    size_t put;
    enum io result = channel_write(&stream->channel, request, hq_write(request, stream->asked), &put);
    if (result == IO_OK)
        stream->step = STEP_BODY;
    return result;
}

/* With less to come than the mark, only the sender's FIN would wake us. A congestion window that the data
   fill exactly holds it back for a round trip. TLS may have read a part of what is left. */
static void wake_for_the_rest(struct stream *stream) {
    uint64_t left = stream->asked > stream->got ? stream->asked - stream->got : 1;
    if (stream->channel.ssl && left <= knobs.rcvlowat_bytes + TLS_AHEAD_BYTES)
        left = 1;
    if (left >= stream->wakes_at_bytes)
        return;
    socket_wake_at(stream->channel.descriptor, left);
    stream->wakes_at_bytes = left;
}

static bool all_has_come(const struct client *client) {
    if (client->bytes < client->options->bytes)
        return false;
    for (unsigned i = 0; i < client->options->streams; i++)
        if (client->streams[i].got != client->streams[i].asked)
            return false;
    return true;
}

static enum io take_body(struct client *client, struct stream *stream) {
    size_t got;
    enum io result = channel_discard(&stream->channel, UINT64_MAX, &got);
    stream->got += got;
    client->bytes += got;
    wake_for_the_rest(stream);
    if (!client->done && all_has_come(client)) {
        client->done = true;
        event_done(client->bytes, true, NULL);
    }
    /* A raw read has taken all there was. */
    return result == IO_OK && !stream->channel.ssl ? IO_WANT_READ : result;
}

static enum io advance(struct client *client, struct stream *stream) {
    enum io result;
    switch (stream->step) {
    case STEP_HANDSHAKE:
        result = channel_handshake(&stream->channel);
        if (result == IO_OK) {
            stream->step = STEP_REQUEST;
            if (++client->connected == client->options->streams)
                event_connected();
        }
        return result;
    case STEP_REQUEST:
        result = send_request(stream);
        if (result == IO_OK) {
            stream->wakes_at_bytes = knobs.rcvlowat_bytes;
            socket_wake_at(stream->channel.descriptor, knobs.rcvlowat_bytes);
            wake_for_the_rest(stream);
        }
        return result;
    case STEP_BODY: return take_body(client, stream);
    case STEP_CLOSED: break;
    }
    return IO_CLOSED;
}

static void end_stream(struct client *client, struct stream *stream, enum io result) {
    if (result == IO_FAILED && !client->error[0])
        snprintf(client->error, sizeof client->error, "%s", channel_error());
    else if (stream->got != stream->asked && !client->error[0])
        snprintf(client->error, sizeof client->error, "stream ended after %" PRIu64 " of %" PRIu64 " bytes",
                 stream->got, stream->asked);
    if (result == IO_CLOSED)
        channel_finish(&stream->channel);
    channel_close(&stream->channel);
    stream->step = STEP_CLOSED;
    stream->ready = false;
    client->open--;
}

/* Goes on until the stream has to wait, is over, or has had its turn. */
static void drive(struct client *client, struct stream *stream) {
    enum io result = IO_OK;
    for (int i = 0; i < STEPS_A_TURN && result == IO_OK; i++)
        result = advance(client, stream);
    stream->ready = result == IO_OK;
    if (result == IO_CLOSED || result == IO_FAILED)
        end_stream(client, stream, result);
    else
        stream->events = result == IO_WANT_WRITE ? POLLOUT : POLLIN;
}

static void open_streams(struct client *client, SSL_CTX *context) {
    unsigned count = client->options->streams;
    uint64_t bytes = client->options->bytes;
    client->streams = calloc(count, sizeof *client->streams);
    client->polled = calloc(count + 1, sizeof *client->polled);
    if (!client->streams || !client->polled) {
        fputs("cambrian-tcp: out of memory\n", stderr);
        exit(1);
    }
    client->open = count;
    for (unsigned i = 0; i < count; i++) {
        int descriptor = socket_connect(client->options);
        client->streams[i] = (struct stream){
            .channel = channel_open(descriptor, context, client->options),
            .events = POLLOUT, /* connect() ends with it */
            .asked = hq_share(bytes, count, i),
        };
    }
}

static void report_progress(struct client *client) {
    uint64_t now = realtime_ns();
    if (client->done || client->connected < client->options->streams || now < client->next_progress_ns)
        return;
    if (client->next_progress_ns)
        event_progress(now, client->bytes);
    client->next_progress_ns = now + PROGRESS_INTERVAL_NS;
}

static void fetch(struct client *client) {
    unsigned count = client->options->streams;
    while (client->open && !stop_requested()) {
        long long timeout_ns = -1;
        for (unsigned i = 0; i < count; i++) {
            struct stream *stream = &client->streams[i];
            if (stream->ready)
                timeout_ns = 0;
            client->polled[i + 1] = (struct pollfd){.fd = stream->channel.descriptor, .events = stream->events};
        }
        stop_poll(client->polled, count + 1, timeout_ns);
        for (unsigned i = 0; i < count; i++)
            if (client->polled[i + 1].revents || client->streams[i].ready)
                drive(client, &client->streams[i]);
        report_progress(client);
    }
}

/* Counts what had come by the time of SIGTERM but was below the wake-up mark;
   no more than that, or a fast sender could keep us here. */
static void take_waiting(struct client *client, struct stream *stream) {
    int waiting = 0;
    ioctl(stream->channel.descriptor, FIONREAD, &waiting);
    uint64_t end = stream->got + (uint64_t)waiting;
    while (stream->step == STEP_BODY && stream->got < end && take_body(client, stream) == IO_OK)
        ;
}

int client_run(const struct options *options) {
    struct client client = {.options = options};
    open_streams(&client, channel_context(options));
    fetch(&client);
    for (unsigned i = 0; i < options->streams; i++)
        take_waiting(&client, &client.streams[i]);
    if (!client.done)
        event_done(client.bytes, all_has_come(&client) && !client.error[0], client.error[0] ? client.error : NULL);
    if (client.error[0])
        fprintf(stderr, "cambrian-tcp: %s\n", client.error);
    return client.error[0] ? 1 : 0;
}
