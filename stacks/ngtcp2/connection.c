#include "connection.h"

#include "callbacks.h"
#include "events.h"
#include "knobs.h"
#include "transport_log.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The library gives a connection no more IDs than that (lib/ngtcp2_conn.h, NGTCP2_MAX_SCID_POOL_SIZE). */
enum { MOST_IDS = 8 };
enum { VECTORS = 16 };
#define IDLE_TIMEOUT (UINT64_C(1200) * NGTCP2_SECONDS)
#define RECEIVE_WINDOW_BYTES (UINT64_C(64) << 20)
#define REQUEST_WINDOW_BYTES (UINT64_C(256) << 10)

uint64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NGTCP2_SECONDS + (uint64_t)now.tv_nsec;
}

static void end(struct connection *connection, const char *error) {
    connection->over = true;
    if (error && !connection->error[0])
        snprintf(connection->error, sizeof connection->error, "%s", error);
}

static ngtcp2_cc_algo cc_algo(const char *name) {
    static const struct {
        const char *name;
        ngtcp2_cc_algo algo;
    } ALGOS[] = {
        {"reno", NGTCP2_CC_ALGO_RENO}, {"bbr", NGTCP2_CC_ALGO_BBR},
#if COMPAT_HAS_BBR2
        {"bbr2", NGTCP2_CC_ALGO_BBR2},
#endif
    };
    for (size_t i = 0; name && i < sizeof ALGOS / sizeof ALGOS[0]; i++)
        if (!strcmp(name, ALGOS[i].name))
            return ALGOS[i].algo;
    return NGTCP2_CC_ALGO_CUBIC;
}

static ngtcp2_settings settings_for(const struct setup *setup, uint64_t now) {
    ngtcp2_settings settings;
    ngtcp2_settings_default(&settings);
    settings.cc_algo = cc_algo(setup->options->cca);
    settings.initial_ts = now;
    settings.no_pmtud = !knobs.path_mtu_discovery;
    if (setup->options->role == ROLE_SERVER)
        settings.log_printf = log_line;
    return settings;
}

static ngtcp2_transport_params parameters_for(const struct setup *setup) {
    ngtcp2_transport_params parameters;
    ngtcp2_transport_params_default(&parameters);
    bool server = setup->options->role == ROLE_SERVER;
    parameters.initial_max_streams_bidi = server ? MOST_STREAMS : 0;
    parameters.initial_max_streams_uni = 16;
    parameters.initial_max_stream_data_bidi_local = RECEIVE_WINDOW_BYTES;
    parameters.initial_max_stream_data_bidi_remote = REQUEST_WINDOW_BYTES;
    parameters.initial_max_stream_data_uni = REQUEST_WINDOW_BYTES;
    parameters.initial_max_data = RECEIVE_WINDOW_BYTES;
    parameters.max_idle_timeout = IDLE_TIMEOUT;
    return parameters;
}

static ngtcp2_cid random_cid(void) {
    ngtcp2_cid cid = {.datalen = CID_BYTES};
    gnutls_rnd(GNUTLS_RND_RANDOM, cid.data, CID_BYTES);
    return cid;
}

static ngtcp2_conn *connection_of(ngtcp2_crypto_conn_ref *reference) {
    return ((struct connection *)reference->user_data)->quic;
}

static ngtcp2_path path_to(const struct udp *udp, const struct sockaddr_storage *peer, socklen_t length) {
    return (ngtcp2_path){
        .local = {.addr = (struct sockaddr *)&udp->local, .addrlen = udp->local_length},
        .remote = {.addr = (struct sockaddr *)peer, .addrlen = length},
    };
}

static struct connection *create(const struct setup *setup) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    connection->setup = setup;
    connection->slept_through = UINT64_MAX;
    connection->controller = (struct controller){.reno_is_told = COMPAT_RENO_IS_TOLD, .probe = -1};
    connection->reference = (ngtcp2_crypto_conn_ref){.get_conn = connection_of, .user_data = connection};
    connection->tls = tls_session(setup->options, setup->credentials, &connection->reference);
    return connection;
}

/* ngtcp2 itself refuses only for want of memory. */
static struct connection *created(struct connection *connection, int error) {
    if (error) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, ngtcp2_strerror(error));
        exit(1);
    }
    ngtcp2_conn_set_tls_native_handle(connection->quic, connection->tls);
    return connection;
}

struct connection *connection_connect(const struct setup *setup, uint64_t now) {
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    getpeername(setup->udp.descriptor, (struct sockaddr *)&peer, &length);
    struct connection *connection = create(setup);
    ngtcp2_path path = path_to(&setup->udp, &peer, length);
    ngtcp2_settings settings = settings_for(setup, now);
    ngtcp2_transport_params parameters = parameters_for(setup);
    ngtcp2_cid destination = random_cid(), source = random_cid();
    return created(connection, ngtcp2_conn_client_new(&connection->quic, &destination, &source, &path,
                                                      NGTCP2_PROTO_VER_V1, &CALLBACKS, &settings, &parameters,
                                                      NULL, connection));
}

struct connection *connection_accept(const struct setup *setup, const struct datagram *datagram, uint64_t now) {
    ngtcp2_pkt_hd head;
    if (ngtcp2_accept(&head, datagram->data, datagram->size) != 0)
        return NULL;
    struct connection *connection = create(setup);
    ngtcp2_path path = path_to(&setup->udp, datagram->peer, datagram->peer_length);
    ngtcp2_settings settings = settings_for(setup, now);
    ngtcp2_transport_params parameters = parameters_for(setup);
    COMPAT_ORIGINAL_DCID(&parameters, head.dcid);
    ngtcp2_cid source = random_cid();
    return created(connection,
                   ngtcp2_conn_server_new(&connection->quic, &head.scid, &source, &path, head.version, &CALLBACKS,
                                          &settings, &parameters, NULL, connection));
}

static void tell_cca(struct connection *connection) {
    connection->cca_told = true;
    event_cca(connection->setup->options->cca, connection->controller.name,
              connection->controller.name ? "the controller's lines in ngtcp2's debug log"
                                          : "ngtcp2's debug log has not told reno from cubic");
}

/* A row for each batch of datagrams that came, since an acknowledgement also changes the pacing rate, the sRTT and
   the state; and a sample whenever the window or the flight has changed besides. */
static void log_controller(struct connection *connection, uint64_t now) {
    ngtcp2_conn_info info;
    ngtcp2_conn_get_conn_info(connection->quic, &info);
    uint64_t events = controller_events(&connection->controller);
    bool loss = events != connection->logged_events;
    bool came = connection->packets_received != connection->logged_received;
    if (!loss && !came && info.cwnd == connection->logged_cwnd &&
        info.bytes_in_flight == connection->logged_in_flight)
        return;
    connection->logged_received = connection->packets_received;
    connection->logged_cwnd = info.cwnd;
    connection->logged_in_flight = info.bytes_in_flight;
    connection->logged_events = events;
    transport_log_write(connection->setup->log, &(struct transport_row){
        .event = loss ? "loss" : came ? "ack" : "sample",
        .time_ns = now + connection->setup->realtime_ns,
        .cwnd_bytes = info.cwnd,
        .ssthresh_bytes = info.ssthresh, /* UINT64_MAX = unset = NOT_SAID */
        .in_flight_bytes = info.bytes_in_flight,
        /* after persistent congestion it is the initial 333 ms until the next sample */
        .srtt_us = info.min_rtt == UINT64_MAX ? NOT_SAID : info.smoothed_rtt / NGTCP2_MICROSECONDS,
        .pacing_bps = compat_pacing_bps(&info),
        .state = controller_state(&connection->controller, info.cwnd, info.ssthresh),
    });
}

static void after_controller(struct connection *connection, uint64_t now) {
    if (connection->setup->options->role != ROLE_SERVER || !connection->connected)
        return;
    if (!connection->cca_told && connection->controller.name)
        tell_cca(connection);
    if (connection->setup->log)
        log_controller(connection, now);
}

bool connection_answers(const struct connection *connection, const uint8_t *id, size_t length) {
    ngtcp2_cid own[MOST_IDS + 1];
    size_t count = ngtcp2_conn_get_scid(connection->quic, own);
    /* The client's first datagrams, and copies of them, have an ID that it chose. */
    own[count++] = *ngtcp2_conn_get_client_initial_dcid(connection->quic);
    for (size_t i = 0; i < count; i++)
        if (own[i].datalen == length && !memcmp(own[i].data, id, length))
            return true;
    return false;
}

/* Runs the pacing timer that was slept through, with the time at which it was due: the library counts how late a
   packet leaves, and makes up for it. */
static void catch_up(struct connection *connection, uint64_t now) {
    uint64_t due = connection->slept_through;
    if (connection->over || due > now)
        return;
    connection->slept_through = UINT64_MAX;
    int error = ngtcp2_conn_handle_expiry(connection->quic, due);
    if (error)
        end(connection, ngtcp2_strerror(error));
}

void connection_receive(struct connection *connection, const struct datagram *datagram, uint64_t now) {
    catch_up(connection, now);
    if (connection->over)
        return;
    /* The library follows a peer that has moved, and asks it at its new address to prove that it is there. */
    ngtcp2_path path = path_to(&connection->setup->udp, datagram->peer, datagram->peer_length);
    ngtcp2_pkt_info about = {.ecn = datagram->ecn};
    connection->packets_received++;
    int error = ngtcp2_conn_read_pkt(connection->quic, &path, &about, datagram->data, datagram->size, now);
    if (error == NGTCP2_ERR_DRAINING || error == NGTCP2_ERR_CLOSING)
        end(connection, NULL);
    else if (error) {
        connection_close(connection, now);
        end(connection, ngtcp2_strerror(error));
    }
}

/* What to do about a stream that ngtcp2 did not put into a packet; false = the write failed. */
static bool refused(struct connection *connection, int64_t stream, int64_t error) {
    const struct application *application = connection->setup->application;
    if (error == NGTCP2_ERR_STREAM_DATA_BLOCKED)
        return application->blocked(connection, stream, false);
    if (error == NGTCP2_ERR_STREAM_SHUT_WR || error == NGTCP2_ERR_STREAM_NOT_FOUND)
        return application->blocked(connection, stream, true);
    end(connection, ngtcp2_strerror((int)error));
    return false;
}

/* The library says where each packet goes: while a peer moves, not all of a train go to one address. */
static void queue(const struct udp *udp, size_t size, const ngtcp2_path *path, uint8_t ecn) {
    struct sockaddr_storage peer = {0};
    memcpy(&peer, path->remote.addr, path->remote.addrlen);
    udp_queue(udp, size, &peer, path->remote.addrlen, ecn);
}

/* Writes one packet into the socket's queue: its size, 0 if there is nothing (more) to send now, < 0 on failure. */
static int64_t write_packet(struct connection *connection, uint64_t now) {
    const struct application *application = connection->setup->application;
    const struct udp *udp = &connection->setup->udp;
    ngtcp2_path_storage storage;
    ngtcp2_path_storage_zero(&storage);
    ngtcp2_pkt_info about = {0};
    uint8_t *to = udp_room(udp);
    for (;;) {
        ngtcp2_vec vectors[VECTORS];
        size_t count = VECTORS;
        bool fin = false;
        int64_t stream = -1;
        if (connection->connected && ngtcp2_conn_get_max_data_left(connection->quic))
            stream = application->next(connection, vectors, &count, &fin);
        if (stream < 0)
            count = 0;
        ngtcp2_ssize taken = -1;
        uint32_t flags = NGTCP2_WRITE_STREAM_FLAG_MORE | (fin ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0u);
        ngtcp2_ssize size = ngtcp2_conn_writev_stream(connection->quic, &storage.path, &about, to, UDP_DATAGRAM_BYTES,
                                                      &taken, flags, stream, vectors, count, now);
        if (taken >= 0 && stream >= 0 && !application->wrote(connection, stream, (size_t)taken, fin))
            return -1;
        if (size == NGTCP2_ERR_WRITE_MORE)
            continue;
        if (size < 0 && refused(connection, stream, size))
            continue;
        if (size > 0)
            queue(udp, (size_t)size, &storage.path, about.ecn);
        return size;
    }
}

/* Has the library space what has left, of so many bytes, and decides when to wake. If it had nothing more to send
   when it was free to send, it will have nothing when the pacer lets the next packet go: only its other timers count. */
static void pace(struct connection *connection, uint64_t now, size_t sent, bool emptied) {
    bool free_to_send = connection->paced_until <= now;
    uint64_t others = ngtcp2_conn_get_expiry(connection->quic);
    ngtcp2_conn_update_pkt_tx_time(connection->quic, now);
    uint64_t all = ngtcp2_conn_get_expiry(connection->quic);
    bool sleep = free_to_send && emptied && all < others;
    if (sent)
        connection->paced_until = all < others ? all : UINT64_MAX;
    connection->slept_through = sleep ? all : UINT64_MAX;
    connection->wake_at = sleep ? others : all;
}

static void send_packets(struct connection *connection, uint64_t now) {
    /* The library says how much may leave without spacing, and spaces what it is told has left. */
    size_t quantum = ngtcp2_conn_get_send_quantum(connection->quic);
    size_t full = ngtcp2_conn_get_path_max_tx_udp_payload_size(connection->quic);
    size_t sent = 0;
    int64_t size;
    do {
        size = write_packet(connection, now);
        if (size > 0) {
            sent += (size_t)size;
            connection->packets_sent++;
        }
    } while (size > 0 && sent + full <= quantum);
    pace(connection, now, sent, size == 0);
}

void connection_drive(struct connection *connection, uint64_t now) {
    catch_up(connection, now);
    if (connection->over)
        return;
    if (ngtcp2_conn_get_expiry(connection->quic) <= now) {
        int error = ngtcp2_conn_handle_expiry(connection->quic, now);
        if (error) {
            end(connection, ngtcp2_strerror(error));
            return;
        }
    }
    after_controller(connection, now);
    send_packets(connection, now);
}

uint64_t connection_expiry(const struct connection *connection) {
    return connection->over ? UINT64_MAX : connection->wake_at;
}

void connection_close(struct connection *connection, uint64_t now) {
    const struct udp *udp = &connection->setup->udp;
    if (connection->over || ngtcp2_conn_in_closing_period(connection->quic) ||
        ngtcp2_conn_in_draining_period(connection->quic))
        return;
    ngtcp2_ccerr error;
    ngtcp2_ccerr_default(&error);
    ngtcp2_path_storage storage;
    ngtcp2_path_storage_zero(&storage);
    ngtcp2_pkt_info about = {0};
    ngtcp2_ssize size = ngtcp2_conn_write_connection_close(connection->quic, &storage.path, &about, udp_room(udp),
                                                           UDP_DATAGRAM_BYTES, &error, now);
    if (size > 0)
        queue(udp, (size_t)size, &storage.path, about.ecn);
    udp_flush(udp);
    connection->over = true;
}

void connection_report(struct connection *connection) {
    if (connection->connected && !connection->cca_told)
        tell_cca(connection);
    printf("{\"event\":\"stats\",\"packets_sent\":%" PRIu64 ",\"packets_received\":%" PRIu64
           ",\"packets_lost\":%" PRIu64 ",\"cwnd_reductions\":%" PRIu64 ",\"cwnd_reductions_undone\":%" PRIu64 "}\n",
           connection->packets_sent, connection->packets_received, connection->controller.lost,
           connection->controller.reductions, connection->controller.undone);
    fflush(stdout);
}

void connection_free(struct connection *connection) {
    const struct application *application = connection->setup->application;
    if (application->end && connection->state)
        application->end(connection);
    ngtcp2_conn_del(connection->quic);
    gnutls_deinit(connection->tls);
    free(connection);
}
