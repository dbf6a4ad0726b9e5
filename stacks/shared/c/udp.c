#include "udp.h"

#include "address.h"
#include "ring.h"
#include "stop.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOCKET_BUFFER_BYTES = 32 << 20 };

/* One direction's fixed memory, so that no page is touched for the first time in mid-transfer. */
struct batch {
    struct mmsghdr headers[UDP_BATCH];
    struct iovec vectors[UDP_BATCH];
    struct sockaddr_storage peers[UDP_BATCH];
    uint8_t data[UDP_BATCH][UDP_DATAGRAM_BYTES];
    _Alignas(struct cmsghdr) uint8_t control[UDP_BATCH][UDP_CONTROL_BYTES];
    unsigned count;
};
static struct batch incoming, outgoing;
static bool by_ring;
static bool readable; /* without a ring: more than has been received */

__attribute__((noreturn)) static void fail(const char *what, const struct options *options) {
    fprintf(stderr, "%s: %s %s:%s: %s\n", program_invocation_short_name, what, options->address, options->port,
            strerror(errno));
    exit(1);
}

static void set(int descriptor, int level, int name, int value, const struct options *options) {
    if (setsockopt(descriptor, level, name, &value, sizeof value))
        fail("setting up a socket for", options);
}

/* The FORCE form passes net.core's limit where we may. */
static void set_buffer(int descriptor, int forced, int plain, const struct options *options) {
    int bytes = SOCKET_BUFFER_BYTES;
    if (setsockopt(descriptor, SOL_SOCKET, forced, &bytes, sizeof bytes))
        set(descriptor, SOL_SOCKET, plain, bytes, options);
}

static void set_family(int descriptor, int family, const struct options *options) {
    if (family == AF_INET6) {
        set(descriptor, IPPROTO_IPV6, IPV6_RECVTCLASS, 1, options);
        set(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE, options);
    } else {
        set(descriptor, IPPROTO_IP, IP_RECVTOS, 1, options);
        set(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, options);
    }
}

static void prepare(struct batch *batch) {
    for (unsigned i = 0; i < UDP_BATCH; i++) {
        batch->vectors[i] = (struct iovec){.iov_base = batch->data[i], .iov_len = UDP_DATAGRAM_BYTES};
        batch->headers[i].msg_hdr = (struct msghdr){.msg_name = &batch->peers[i],
                                                    .msg_iov = &batch->vectors[i],
                                                    .msg_iovlen = 1,
                                                    .msg_control = batch->control[i]};
    }
}

struct udp udp_open(const struct options *options) {
    struct addrinfo *at = address_resolve(options, SOCK_DGRAM);
    struct udp udp = {.descriptor = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (udp.descriptor < 0)
        fail("socket for", options);
    set_buffer(udp.descriptor, SO_SNDBUFFORCE, SO_SNDBUF, options);
    set_buffer(udp.descriptor, SO_RCVBUFFORCE, SO_RCVBUF, options);
    set_family(udp.descriptor, at->ai_family, options);
    if (options->role == ROLE_SERVER && bind(udp.descriptor, at->ai_addr, at->ai_addrlen))
        fail("binding", options);
    if (options->role == ROLE_CLIENT && connect(udp.descriptor, at->ai_addr, at->ai_addrlen))
        fail("connecting to", options);
    freeaddrinfo(at);
    udp.local_length = sizeof udp.local;
    getsockname(udp.descriptor, (struct sockaddr *)&udp.local, &udp.local_length);
    prepare(&incoming);
    prepare(&outgoing);
    by_ring = ring_open(udp.descriptor);
    return udp;
}

uint8_t udp_ecn(struct msghdr *header) {
    for (struct cmsghdr *control = CMSG_FIRSTHDR(header); control; control = CMSG_NXTHDR(header, control)) {
        if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_TOS)
            return *CMSG_DATA(control) & 3;
        if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_TCLASS) {
            int class;
            memcpy(&class, CMSG_DATA(control), sizeof class);
            return class & 3;
        }
    }
    return 0;
}

void udp_wait(const struct udp *udp, long long timeout_ns) {
    if (by_ring) {
        ring_wait(outgoing.headers, outgoing.count, timeout_ns);
        outgoing.count = 0;
        return;
    }
    struct pollfd polled[2] = {{0}, {.fd = udp->descriptor, .events = POLLIN}};
    udp_flush(udp);
    stop_poll(polled, 2, timeout_ns);
    readable = polled[1].revents;
}

int udp_receive(const struct udp *udp, struct datagram list[UDP_BATCH]) {
    if (by_ring)
        return ring_receive(list);
    if (!readable)
        return 0;
    for (unsigned i = 0; i < UDP_BATCH; i++) {
        incoming.headers[i].msg_hdr.msg_namelen = sizeof incoming.peers[i];
        incoming.headers[i].msg_hdr.msg_controllen = UDP_CONTROL_BYTES;
    }
    int count = recvmmsg(udp->descriptor, incoming.headers, UDP_BATCH, MSG_DONTWAIT, NULL);
    readable = count == UDP_BATCH;
    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    for (int i = 0; i < count; i++)
        list[i] = (struct datagram){.data = incoming.data[i],
                                    .size = incoming.headers[i].msg_len,
                                    .peer = &incoming.peers[i],
                                    .peer_length = incoming.headers[i].msg_hdr.msg_namelen,
                                    .ecn = udp_ecn(&incoming.headers[i].msg_hdr)};
    return count;
}

uint8_t *udp_room(const struct udp *udp) {
    if (outgoing.count == UDP_BATCH)
        udp_flush(udp);
    return outgoing.data[outgoing.count];
}

static size_t write_ecn(struct msghdr *header, int family, uint8_t ecn) {
    int value = ecn;
    header->msg_controllen = UDP_CONTROL_BYTES;
    struct cmsghdr *control = CMSG_FIRSTHDR(header);
    *control = (struct cmsghdr){
        .cmsg_level = family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP,
        .cmsg_type = family == AF_INET6 ? IPV6_TCLASS : IP_TOS,
        .cmsg_len = CMSG_LEN(sizeof value),
    };
    memcpy(CMSG_DATA(control), &value, sizeof value);
    return UDP_CONTROL_BYTES;
}

void udp_queue(const struct udp *udp, size_t size, const struct sockaddr_storage *peer, socklen_t peer_length,
               uint8_t ecn) {
    unsigned i = outgoing.count++;
    struct msghdr *header = &outgoing.headers[i].msg_hdr;
    outgoing.vectors[i].iov_len = size;
    outgoing.peers[i] = *peer;
    header->msg_namelen = peer_length;
    header->msg_controllen = ecn ? write_ecn(header, udp->local.ss_family, ecn) : 0;
}

void udp_flush(const struct udp *udp) {
    unsigned sent = 0;
    while (sent < outgoing.count) {
        int count = sendmmsg(udp->descriptor, outgoing.headers + sent, outgoing.count - sent, 0);
        /* A datagram that the kernel will not take is as good as lost. */
        sent += count > 0 ? (unsigned)count : errno != EINTR;
    }
    outgoing.count = 0;
}
