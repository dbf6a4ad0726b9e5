#include "quic.h"

#include "bio.h"
#include "entropy.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/quic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

void quic_fail(const char *what) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, ERR_error_string(ERR_get_error(), NULL));
    exit(1);
}

static void require(int ok, const char *what) {
    if (ok != 1)
        quic_fail(what);
}

/* TLS's form of a protocol name: its length, then itself. */
static size_t wire_alpn(const char *name, unsigned char to[256]) {
    size_t length = strlen(name);
    to[0] = (unsigned char)length;
    memcpy(to + 1, name, length);
    return length + 1;
}

static int choose_alpn(SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
                       unsigned offered_length, void *options) {
    unsigned char ours[256];
    size_t ours_length = wire_alpn(((const struct options *)options)->alpn, ours);
    unsigned char *found;
    (void)ssl;
    if (SSL_select_next_proto(&found, length, ours, (unsigned)ours_length, offered, offered_length) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    /* The same name, in the peer's own list, which outlives ours. */
    *chosen = memmem(offered, offered_length, found, *length);
    return SSL_TLSEXT_ERR_OK;
}

SSL_CTX *quic_context(const struct options *options) {
    bool server = options->role == ROLE_SERVER;
    entropy_from_system();
    SSL_CTX *context = SSL_CTX_new(server ? OSSL_QUIC_server_method() : OSSL_QUIC_client_method());
    require(context != NULL, "no QUIC");
    require(SSL_CTX_set_domain_flags(context, SSL_DOMAIN_FLAG_SINGLE_THREAD), "not on one thread");
    if (!server) {
        unsigned char alpn[256];
        size_t length = wire_alpn(options->alpn, alpn);
        SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL); /* the contract: trust any certificate */
        require(SSL_CTX_set_alpn_protos(context, alpn, (unsigned)length) == 0, "ALPN refused");
        return context;
    }
    SSL_CTX_set_num_tickets(context, 0); /* nobody resumes */
    SSL_CTX_set_alpn_select_cb(context, choose_alpn, (void *)options);
    require(SSL_CTX_use_certificate_chain_file(context, options->cert), options->cert);
    require(SSL_CTX_use_PrivateKey_file(context, options->key, SSL_FILETYPE_PEM), options->key);
    return context;
}

void quic_explicit(SSL *ssl) {
    require(SSL_set_blocking_mode(ssl, 0), "cannot be non-blocking");
    /* A listener has no such mode: it works only in SSL_handle_events as it is. */
    if (!SSL_is_listener(ssl))
        require(SSL_set_event_handling_mode(ssl, SSL_VALUE_EVENT_HANDLING_MODE_EXPLICIT), "cannot wait for its turn");
}

static long long timeout_ns(SSL *ssl) {
    struct timeval timeout;
    int for_ever;
    require(SSL_get_event_timeout(ssl, &timeout, &for_ever), "no timeout");
    return for_ever ? -1 : timeout.tv_sec * 1000000000LL + timeout.tv_usec * 1000LL;
}

void quic_turn(SSL *ssl) {
    bio_wait(timeout_ns(ssl));
    SSL_handle_events(ssl);
}

void quic_close(SSL *connection, const struct udp *udp) {
    SSL_shutdown_ex(connection, SSL_SHUTDOWN_FLAG_RAPID | SSL_SHUTDOWN_FLAG_NO_BLOCK, NULL, 0);
    SSL_handle_events(connection);
    udp_flush(udp);
}

bool quic_closed(SSL *connection) {
    SSL_CONN_CLOSE_INFO about;
    return SSL_get_conn_close_info(connection, &about, sizeof about) == 1;
}
