#include "sockets.h"

#include "address.h"
#include "knobs.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

__attribute__((noreturn)) static void fail(const char *what, const struct options *options) {
    fprintf(stderr, "cambrian-tcp: %s %s:%s: %s\n", what, options->address, options->port, strerror(errno));
    exit(1);
}

static void set_int(int descriptor, int level, int name, uint64_t value, const char *what) {
    int number = (int)value;
    if (setsockopt(descriptor, level, name, &number, sizeof number)) {
        fprintf(stderr, "cambrian-tcp: setting %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

/* The FORCE form passes net.core's limit where we may; else the limit holds,
   and a buffer that came out smaller is said. */
static void set_buffer(int descriptor, int forced, int plain, uint64_t bytes, const char *what) {
    int wanted = (int)bytes, got = 0;
    if (!bytes)
        return;
    if (setsockopt(descriptor, SOL_SOCKET, forced, &wanted, sizeof wanted) == 0)
        return;
    set_int(descriptor, SOL_SOCKET, plain, bytes, what);
    socklen_t length = sizeof got;
    getsockopt(descriptor, SOL_SOCKET, plain, &got, &length);
    if (got / 2 < wanted) /* the kernel doubles it for its own book-keeping */
        fprintf(stderr, "cambrian-tcp: %s is %d bytes, not %d: raise net.core.%cmem_max\n", what, got / 2, wanted,
                plain == SO_SNDBUF ? 'w' : 'r');
}

static void set_common(int descriptor) {
    set_buffer(descriptor, SO_SNDBUFFORCE, SO_SNDBUF, knobs.send_buffer_bytes, "SO_SNDBUF");
    set_buffer(descriptor, SO_RCVBUFFORCE, SO_RCVBUF, knobs.receive_buffer_bytes, "SO_RCVBUF");
}

const char *socket_ccas(char *list, int size) {
    FILE *file = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "r");
    list[0] = '\0';
    if (file) {
        if (fgets(list, size, file))
            list[strcspn(list, "\n")] = '\0';
        fclose(file);
    }
    return list;
}

static void set_cca(int descriptor, const char *cca) {
    if (setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, cca, (socklen_t)strlen(cca)) == 0)
        return;
    int reason = errno;
    char list[512];
    if (reason == EPERM) {
        fprintf(stderr, "cambrian-tcp: --cca %s: not permitted: add it to net.ipv4.tcp_allowed_congestion_control\n",
                cca);
        exit(1);
    }
    fprintf(stderr, "cambrian-tcp: --cca %s: this kernel has: %s\n", cca, socket_ccas(list, sizeof list));
    exit(EXIT_UNSUPPORTED);
}

/* Accepted sockets inherit all of this. */
int socket_listen(const struct options *options) {
    struct addrinfo *at = address_resolve(options, SOCK_STREAM);
    int descriptor = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        fail("socket for", options);
    set_common(descriptor);
    set_cca(descriptor, options->cca);
    if (knobs.nodelay)
        set_int(descriptor, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
    set_int(descriptor, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
    set_int(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, knobs.notsent_lowat_bytes, "TCP_NOTSENT_LOWAT");
    uint64_t pacing = knobs.max_pacing_rate_bytes_per_s;
    if (pacing && setsockopt(descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &pacing, sizeof pacing))
        fail("setting SO_MAX_PACING_RATE for", options);
    if (bind(descriptor, at->ai_addr, at->ai_addrlen))
        fail("binding", options);
    if (listen(descriptor, 1024))
        fail("listening at", options);
    freeaddrinfo(at);
    return descriptor;
}

int socket_connect(const struct options *options) {
    struct addrinfo *at = address_resolve(options, SOCK_STREAM);
    int descriptor = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        fail("socket for", options);
    set_common(descriptor);
    /* as browsers and curl do: a request must not wait until the server acknowledges the end of the TLS handshake */
    set_int(descriptor, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
    if (connect(descriptor, at->ai_addr, at->ai_addrlen) && errno != EINPROGRESS)
        fail("connecting to", options);
    freeaddrinfo(at);
    return descriptor;
}

int socket_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

const char *socket_cca(int descriptor, char name[16]) {
    socklen_t length = 16;
    memset(name, 0, 16);
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name, &length))
        return NULL;
    name[15] = '\0';
    return name;
}

void socket_wake_at(int descriptor, uint64_t bytes) {
    set_int(descriptor, SOL_SOCKET, SO_RCVLOWAT, bytes, "SO_RCVLOWAT");
}
