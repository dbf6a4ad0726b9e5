#include "tls.h"

#include <errno.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PRIORITY[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:"
                               "+CHACHA20-POLY1305:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:"
                               "%DISABLE_TLS13_COMPAT_MODE";

static void require(int result, const char *what) {
    if (result < 0) {
        fprintf(stderr, "%s: TLS: %s: %s\n", program_invocation_short_name, what, gnutls_strerror(result));
        exit(1);
    }
}

gnutls_certificate_credentials_t tls_credentials(const struct options *options) {
    gnutls_certificate_credentials_t credentials;
    require(gnutls_certificate_allocate_credentials(&credentials), "no credentials");
    if (options->role == ROLE_SERVER)
        require(gnutls_certificate_set_x509_key_file(credentials, options->cert, options->key, GNUTLS_X509_FMT_PEM),
                options->cert);
    return credentials;
}

static unsigned session_flags(bool server) {
    if (server)
        return GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET; /* nobody resumes */
    return GNUTLS_CLIENT;
}

gnutls_session_t tls_session(const struct options *options, gnutls_certificate_credentials_t credentials,
                             ngtcp2_crypto_conn_ref *ref) {
    bool server = options->role == ROLE_SERVER;
    gnutls_session_t session;
    require(gnutls_init(&session, session_flags(server)), "no session");
    require(server ? ngtcp2_crypto_gnutls_configure_server_session(session)
                   : ngtcp2_crypto_gnutls_configure_client_session(session),
            "not for QUIC");
    require(gnutls_priority_set_direct(session, PRIORITY, NULL), PRIORITY);
    require(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials), "credentials refused");
    gnutls_datum_t alpn = {.data = (unsigned char *)options->alpn, .size = (unsigned)strlen(options->alpn)};
    require(gnutls_alpn_set_protocols(session, &alpn, 1, GNUTLS_ALPN_MANDATORY), "ALPN refused");
    /* A client of ours trusts any certificate: GnuTLS checks none unless asked. */
    if (!server)
        require(gnutls_server_name_set(session, GNUTLS_NAME_DNS, options->server_name, strlen(options->server_name)),
                options->server_name);
    gnutls_session_set_ptr(session, ref);
    return session;
}
