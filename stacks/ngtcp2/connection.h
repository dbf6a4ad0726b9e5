/* One QUIC connection of ngtcp2 over a UDP socket, for either role and any application protocol. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "compat.h"
#include "controller.h"
#include "tls.h"
#include "udp.h"

#include <stdio.h>

struct connection;

/* The protocol above QUIC. Each returns false to end the connection with an error; streams are
   QUIC's numbers. */
struct application {
    /* The handshake is done. */
    bool (*ready)(struct connection *connection);
    /* The next bytes to send: their stream, or -1 for none. *fin: the stream ends with them. */
    int64_t (*next)(struct connection *connection, ngtcp2_vec *vectors, size_t *count, bool *fin);
    /* So many of them have gone into a packet (0 for an end of stream alone). */
    bool (*wrote)(struct connection *connection, int64_t stream, size_t bytes, bool fin);
    /* The peer takes no more on it for now, or for ever. */
    bool (*blocked)(struct connection *connection, int64_t stream, bool for_ever);
    bool (*received)(struct connection *connection, int64_t stream, const uint8_t *data, size_t size, bool fin);
    bool (*closed)(struct connection *connection, int64_t stream, uint64_t error);
    /* May be NULL: the peer allows more streams; takes more on this one; has this many more bytes of it. */
    bool (*more_streams)(struct connection *connection);
    bool (*unblocked)(struct connection *connection, int64_t stream);
    bool (*acknowledged)(struct connection *connection, int64_t stream, uint64_t bytes);
    /* May be NULL: the peer sends no more on it, or wants no more; the connection's state goes. */
    bool (*reset)(struct connection *connection, int64_t stream);
    void (*end)(struct connection *connection);
};

/* Bidirectional streams that a client may have open at once. */
enum { MOST_STREAMS = 1024 };
/* Every connection ID of ours is that long: a short header does not say it. */
enum { CID_BYTES = 16 };

/* What the connections of a process share. */
struct setup {
    const struct options *options;
    const struct application *application;
    gnutls_certificate_credentials_t credentials;
    struct udp udp;
    FILE *log;            /* transport log, NULL = none */
    uint64_t realtime_ns; /* CLOCK_REALTIME − CLOCK_MONOTONIC */
};

struct connection {
    const struct setup *setup;
    ngtcp2_conn *quic;
    ngtcp2_crypto_conn_ref reference;
    gnutls_session_t tls;
    struct controller controller;
    uint64_t logged_received, logged_cwnd, logged_in_flight, logged_events;
    uint64_t packets_sent, packets_received;
    uint64_t paced_until;   /* nothing but ACKs may leave before; UINT64_MAX = not known */
    uint64_t slept_through; /* the pacing timer for which nobody is woken; UINT64_MAX = none */
    uint64_t wake_at;       /* when to drive it next though nothing has come */
    bool connected, cca_told;
    bool over;       /* to be dropped */
    char error[128]; /* "" = none */
    void *state;     /* the application's */
};

/* CLOCK_MONOTONIC in nanoseconds, ngtcp2's time. */
uint64_t monotonic_ns(void);

struct connection *connection_connect(const struct setup *setup, uint64_t now);
/* For a client's first datagram; NULL if it is not one. */
struct connection *connection_accept(const struct setup *setup, const struct datagram *datagram, uint64_t now);

/* Whether a datagram with this destination connection ID is for it. */
bool connection_answers(const struct connection *connection, const uint8_t *id, size_t length);
void connection_receive(struct connection *connection, const struct datagram *datagram, uint64_t now);
/* Runs the timers that are due, then sends all that congestion control and pacing allow by now. */
void connection_drive(struct connection *connection, uint64_t now);
/* When to drive it next though nothing has come. */
uint64_t connection_expiry(const struct connection *connection);
/* Tells the peer that it is over. */
void connection_close(struct connection *connection, uint64_t now);
/* Prints the stats event, and the cca event if none has been. */
void connection_report(struct connection *connection);
void connection_free(struct connection *connection);

#endif
