/* OpenSSL's datagrams by way of udp.h, many a system call. One socket a process. */
#ifndef BIO_H
#define BIO_H

#include "udp.h"

#include <openssl/bio.h>
#include <stdbool.h>

/* Exits with 1 if OpenSSL refuses. */
BIO *bio_open(const struct udp *udp);

/* Waits as udp_wait, unless datagrams are there that OpenSSL has not read yet. */
void bio_wait(long long timeout_ns);

#endif
