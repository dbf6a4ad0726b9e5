/* GnuTLS sessions for QUIC. */
#ifndef TLS_H
#define TLS_H

#include "options.h"

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2_crypto.h>

/* A process's credentials; exits with 1 on a bad certificate or key. */
gnutls_certificate_credentials_t tls_credentials(const struct options *options);

/* A session of the options' role and ALPN, whose connection is found by ref. Exits with 1 if
   GnuTLS refuses, which is never the peer's doing. */
gnutls_session_t tls_session(const struct options *options, gnutls_certificate_credentials_t credentials,
                             ngtcp2_crypto_conn_ref *ref);

#endif
