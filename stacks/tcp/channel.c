#include "channel.h"

#include "entropy.h"
#include "knobs.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One TLS read takes this much from the socket: a system call for 16 records, not two a record. */
enum { TLS_READ_AHEAD_BYTES = 256 << 10 };

static char error_text[256];

const char *channel_error(void) {
    return error_text;
}

static enum io failed(const char *reason) {
    snprintf(error_text, sizeof error_text, "%s", reason);
    return IO_FAILED;
}

static enum io raw_result(ssize_t result, enum io would_block) {
    if (result >= 0)
        return IO_OK;
    if (errno == EAGAIN || errno == EINTR)
        return would_block;
    return failed(strerror(errno));
}

static enum io tls_result(const SSL *ssl, int result) {
    int reason = errno;
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_NONE: return IO_OK;
    case SSL_ERROR_WANT_READ: return IO_WANT_READ;
    case SSL_ERROR_WANT_WRITE: return IO_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN: return IO_CLOSED;
    default: break;
    }
    unsigned long code = ERR_get_error();
    if (!code)
        return failed(reason ? strerror(reason) : "connection closed inside TLS");
    ERR_error_string_n(code, error_text, sizeof error_text);
    return IO_FAILED;
}

static SSL_CTX *require(SSL_CTX *context, int ok, const char *what) {
    if (ok != 1) {
        fprintf(stderr, "cambrian-tcp: TLS: %s: %s\n", what, ERR_error_string(ERR_get_error(), NULL));
        exit(1);
    }
    return context;
}

static FILE *key_log;

static void keep_keys(const SSL *ssl, const char *line) {
    (void)ssl;
    fprintf(key_log, "%s\n", line);
    fflush(key_log);
}

/* The contract: a client appends its secrets to the file that SSLKEYLOGFILE names, if there is one. */
static void log_keys(SSL_CTX *context) {
    const char *path = getenv("SSLKEYLOGFILE");
    if (!path)
        return;
    key_log = fopen(path, "ae");
    if (key_log)
        SSL_CTX_set_keylog_callback(context, keep_keys);
    else
        fprintf(stderr, "cambrian-tcp: %s: %s\n", path, strerror(errno));
}

SSL_CTX *channel_context(const struct options *options) {
    if (!knobs.tls)
        return NULL;
    entropy_from_system();
    bool server = options->role == ROLE_SERVER;
    SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
    require(context, context != NULL, "no context");
    require(context, SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION), "no TLS 1.3");
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, TLS_READ_AHEAD_BYTES);
    if (!server) {
        log_keys(context);
        SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL); /* the contract: trust any certificate */
        return context;
    }
    SSL_CTX_set_num_tickets(context, 0); /* nobody resumes */
    require(context, SSL_CTX_use_certificate_chain_file(context, options->cert), options->cert);
    require(context, SSL_CTX_use_PrivateKey_file(context, options->key, SSL_FILETYPE_PEM), options->key);
    return context;
}

struct channel channel_open(int descriptor, SSL_CTX *context, const struct options *options) {
    struct channel channel = {.descriptor = descriptor};
    if (!context)
        return channel;
    channel.ssl = SSL_new(context);
    require(context, channel.ssl && SSL_set_fd(channel.ssl, descriptor), "no connection");
    if (options->role == ROLE_SERVER) {
        SSL_set_accept_state(channel.ssl);
    } else {
        SSL_set_tlsext_host_name(channel.ssl, options->server_name);
        SSL_set_connect_state(channel.ssl);
    }
    return channel;
}

enum io channel_handshake(struct channel *channel) {
    if (channel->ssl) {
        ERR_clear_error();
        return tls_result(channel->ssl, SSL_do_handshake(channel->ssl));
    }
    /* Raw: the kernel's handshake; its outcome waits in SO_ERROR. */
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(channel->descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
    return error ? failed(strerror(error)) : IO_OK;
}

static enum io raw_receive(struct channel *channel, void *buffer, size_t size, int flags, size_t *got) {
    ssize_t count = recv(channel->descriptor, buffer, size, flags);
    *got = count > 0 ? (size_t)count : 0;
    return count == 0 ? IO_CLOSED : raw_result(count, IO_WANT_READ);
}

enum io channel_read(struct channel *channel, void *buffer, size_t size, size_t *got) {
    *got = 0;
    if (!channel->ssl)
        return raw_receive(channel, buffer, size, 0, got);
    ERR_clear_error();
    return tls_result(channel->ssl, SSL_read_ex(channel->ssl, buffer, size, got));
}

enum io channel_discard(struct channel *channel, uint64_t size, size_t *got) {
    enum { MOST = 1 << 30 };
    static char scratch[SSL3_RT_MAX_PLAIN_LENGTH];
    if (size > MOST)
        size = MOST;
    if (!channel->ssl) /* MSG_TRUNC frees the bytes inside the kernel, uncopied (tcp(7)) */
        return raw_receive(channel, NULL, size, MSG_TRUNC, got);
    return channel_read(channel, scratch, size < sizeof scratch ? size : sizeof scratch, got);
}

enum io channel_write(struct channel *channel, const void *data, size_t size, size_t *put) {
    *put = 0;
    if (channel->ssl) {
        ERR_clear_error();
        return tls_result(channel->ssl, SSL_write_ex(channel->ssl, data, size, put));
    }
    ssize_t count = send(channel->descriptor, data, size, MSG_NOSIGNAL);
    *put = count > 0 ? (size_t)count : 0;
    return raw_result(count, IO_WANT_WRITE);
}

enum io channel_finish(struct channel *channel) {
    if (channel->ssl) {
        ERR_clear_error();
        int result = SSL_shutdown(channel->ssl);
        if (result < 0) /* 0 = sent, the peer's own not yet seen: enough */
            return tls_result(channel->ssl, result);
    }
    return raw_result(shutdown(channel->descriptor, SHUT_WR), IO_WANT_WRITE);
}

void channel_close(struct channel *channel) {
    SSL_free(channel->ssl);
    close(channel->descriptor);
    channel->ssl = NULL;
    channel->descriptor = -1;
}
