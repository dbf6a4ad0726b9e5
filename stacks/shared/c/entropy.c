/* RAND_METHOD is deprecated in favour of a provider, which would be ten times the code. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "entropy.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static int system_bytes(unsigned char *buffer, int count) {
    while (count > 0) {
        ssize_t got = getrandom(buffer, (size_t)count, 0);
        if (got < 0)
            return 0;
        buffer += got;
        count -= (int)got;
    }
    return 1;
}

static int always_seeded(void) {
    return 1;
}

void entropy_from_system(void) {
    static const RAND_METHOD METHOD = {
        .bytes = system_bytes, .pseudorand = system_bytes, .status = always_seeded};
    if (RAND_set_rand_method(&METHOD) != 1) {
        fputs("OpenSSL refuses a random source of ours\n", stderr);
        exit(1);
    }
}
