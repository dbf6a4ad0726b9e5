#include "callbacks.h"

#include "connection.h"
#include "events.h"

#include <gnutls/crypto.h>
#include <stdarg.h>
#include <string.h>

static int result(bool ok) {
    return ok ? 0 : NGTCP2_ERR_CALLBACK_FAILURE;
}

static void random_bytes(uint8_t *to, size_t size, const ngtcp2_rand_ctx *context) {
    (void)context;
    gnutls_rnd(GNUTLS_RND_RANDOM, to, size);
}

static int new_connection_id(ngtcp2_conn *quic, ngtcp2_cid *cid, uint8_t *token, size_t size, void *user) {
    (void)quic, (void)user;
    cid->datalen = size;
    gnutls_rnd(GNUTLS_RND_RANDOM, cid->data, size);
    gnutls_rnd(GNUTLS_RND_RANDOM, token, NGTCP2_STATELESS_RESET_TOKENLEN);
    return 0;
}

static int handshake_completed(ngtcp2_conn *quic, void *user) {
    struct connection *connection = user;
    (void)quic;
    connection->connected = true;
    event_connected();
    return result(connection->setup->application->ready(connection));
}

static int received(ngtcp2_conn *quic, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *data,
                    size_t size, void *user, void *stream_user) {
    struct connection *connection = user;
    (void)offset, (void)stream_user;
    ngtcp2_conn_extend_max_offset(quic, size);
    ngtcp2_conn_extend_max_stream_offset(quic, stream, size);
    bool fin = flags & NGTCP2_STREAM_DATA_FLAG_FIN;
    return result(connection->setup->application->received(connection, stream, data, size, fin));
}

static int closed(ngtcp2_conn *quic, uint32_t flags, int64_t stream, uint64_t error, void *user, void *stream_user) {
    struct connection *connection = user;
    (void)stream_user;
    if (!ngtcp2_conn_is_local_stream(quic, stream)) {
        if (ngtcp2_is_bidi_stream(stream))
            ngtcp2_conn_extend_max_streams_bidi(quic, 1);
        else
            ngtcp2_conn_extend_max_streams_uni(quic, 1);
    }
    return result(connection->setup->application->closed(
        connection, stream, flags & NGTCP2_STREAM_CLOSE_FLAG_APP_ERROR_CODE_SET ? error : 0));
}

static int more_streams(ngtcp2_conn *quic, uint64_t limit, void *user) {
    struct connection *connection = user;
    (void)quic, (void)limit;
    const struct application *application = connection->setup->application;
    return result(!application->more_streams || application->more_streams(connection));
}

static int unblocked(ngtcp2_conn *quic, int64_t stream, uint64_t limit, void *user, void *stream_user) {
    struct connection *connection = user;
    (void)quic, (void)limit, (void)stream_user;
    const struct application *application = connection->setup->application;
    return result(!application->unblocked || application->unblocked(connection, stream));
}

static int acknowledged(ngtcp2_conn *quic, int64_t stream, uint64_t offset, uint64_t size, void *user,
                        void *stream_user) {
    struct connection *connection = user;
    (void)quic, (void)offset, (void)stream_user;
    const struct application *application = connection->setup->application;
    return result(!application->acknowledged || application->acknowledged(connection, stream, size));
}

static int stopped(struct connection *connection, int64_t stream) {
    const struct application *application = connection->setup->application;
    return result(!application->reset || application->reset(connection, stream));
}

static int reset(ngtcp2_conn *quic, int64_t stream, uint64_t size, uint64_t error, void *user, void *stream_user) {
    (void)quic, (void)size, (void)error, (void)stream_user;
    return stopped(user, stream);
}

static int stop_sending(ngtcp2_conn *quic, int64_t stream, uint64_t error, void *user, void *stream_user) {
    (void)quic, (void)error, (void)stream_user;
    return stopped(user, stream);
}

const ngtcp2_callbacks CALLBACKS = {
    .client_initial = ngtcp2_crypto_client_initial_cb,
    .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
    .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
    .encrypt = ngtcp2_crypto_encrypt_cb,
    .decrypt = ngtcp2_crypto_decrypt_cb,
    .hp_mask = ngtcp2_crypto_hp_mask_cb,
    .recv_retry = ngtcp2_crypto_recv_retry_cb,
    .update_key = ngtcp2_crypto_update_key_cb,
    .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
    .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
    .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
    .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
    .rand = random_bytes,
    .get_new_connection_id = new_connection_id,
    .handshake_completed = handshake_completed,
    .recv_stream_data = received,
    .stream_close = closed,
    .stream_reset = reset,
    .stream_stop_sending = stop_sending,
    .extend_max_local_streams_bidi = more_streams,
    .extend_max_stream_data = unblocked,
    .acked_stream_data_offset = acknowledged,
};

/* A line of the library's own text comes as time, connection, category and text, each its own
   argument; lines about single frames come in other formats and are none of the controller's. */
void log_line(void *user, const char *format, ...) {
    static const char OWN[] = "I%08" PRIu64 " 0x%s %s %s";
    struct connection *connection = user;
    if (strcmp(format, OWN))
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)va_arg(arguments, uint64_t);
    (void)va_arg(arguments, const char *);
    (void)va_arg(arguments, const char *);
    controller_hears(&connection->controller, va_arg(arguments, const char *));
    va_end(arguments);
}
