#include "bio.h"

#include "quic.h"

#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <string.h>

static struct {
    const struct udp *udp;
    struct datagram list[UDP_BATCH];
    int next, count; /* of those that have come */
} bio;

static void read_peer(BIO_ADDR *to, const struct sockaddr_storage *from) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
    if (from->ss_family == AF_INET6)
        BIO_ADDR_rawmake(to, AF_INET6, &six->sin6_addr, sizeof six->sin6_addr, six->sin6_port);
    else
        BIO_ADDR_rawmake(to, AF_INET, &four->sin_addr, sizeof four->sin_addr, four->sin_port);
}

/* Returns the address's length: 0 for the peer of a connected socket. */
static socklen_t write_peer(struct sockaddr_storage *to, const BIO_ADDR *from) {
    struct sockaddr_in *four = (struct sockaddr_in *)to;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
    switch (from ? BIO_ADDR_family(from) : AF_UNSPEC) {
    case AF_INET:
        *four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = BIO_ADDR_rawport(from)};
        BIO_ADDR_rawaddress(from, &four->sin_addr, NULL);
        return sizeof *four;
    case AF_INET6:
        *six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = BIO_ADDR_rawport(from)};
        BIO_ADDR_rawaddress(from, &six->sin6_addr, NULL);
        return sizeof *six;
    default: return 0;
    }
}

static BIO_MSG *message(BIO_MSG *messages, size_t stride, size_t index) {
    return (BIO_MSG *)((char *)messages + index * stride);
}

static int receive(BIO *ours, BIO_MSG *messages, size_t stride, size_t count, uint64_t flags, size_t *done) {
    (void)ours, (void)flags;
    *done = 0;
    if (bio.next >= bio.count) {
        bio.next = 0;
        bio.count = udp_receive(bio.udp, bio.list);
    }
    if (bio.count < 0)
        ERR_raise(ERR_LIB_SYS, errno);
    else if (!bio.count)
        ERR_raise(ERR_LIB_BIO, BIO_R_NON_FATAL);
    for (; *done < count && bio.next < bio.count; bio.next++, ++*done) {
        const struct datagram *from = &bio.list[bio.next];
        BIO_MSG *to = message(messages, stride, *done);
        to->data_len = from->size < to->data_len ? from->size : to->data_len;
        memcpy(to->data, from->data, to->data_len);
        to->flags = 0;
        if (to->peer)
            read_peer(to->peer, from->peer);
    }
    return *done > 0;
}

static int queue(BIO *ours, BIO_MSG *messages, size_t stride, size_t count, uint64_t flags, size_t *done) {
    (void)ours, (void)flags;
    for (*done = 0; *done < count; ++*done) {
        const BIO_MSG *from = message(messages, stride, *done);
        struct sockaddr_storage peer = {0};
        if (from->data_len > UDP_DATAGRAM_BYTES) {
            ERR_raise(ERR_LIB_SYS, EMSGSIZE);
            return *done > 0;
        }
        memcpy(udp_room(bio.udp), from->data, from->data_len);
        udp_queue(bio.udp, from->data_len, &peer, write_peer(&peer, from->peer), 0);
    }
    return 1;
}

/* What else OpenSSL asks the socket, it asks its own kind of BIO. The socket stays a blocking one, so that a full send
   buffer is waited for, and OpenSSL does without the address that a datagram came to. */
static long control(BIO *ours, int command, long number, void *pointer) {
    switch (command) {
    case BIO_C_SET_NBIO: return 1;
    case BIO_CTRL_DGRAM_GET_LOCAL_ADDR_CAP: return 0;
    default: return BIO_ctrl(BIO_next(ours), command, number, pointer);
    }
}

static int created(BIO *ours) {
    BIO_set_init(ours, 1);
    return 1;
}

BIO *bio_open(const struct udp *udp) {
    bio.udp = udp;
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_FILTER, "many datagrams a system call");
    if (!method || !BIO_meth_set_create(method, created) || !BIO_meth_set_ctrl(method, control) ||
        !BIO_meth_set_recvmmsg(method, receive) || !BIO_meth_set_sendmmsg(method, queue))
        quic_fail("no BIO method");
    BIO *ours = BIO_new(method), *socket = BIO_new_dgram(udp->descriptor, BIO_NOCLOSE);
    if (!ours || !socket)
        quic_fail("no BIO");
    return BIO_push(ours, socket);
}

void bio_wait(long long timeout_ns) {
    if (bio.next >= bio.count)
        udp_wait(bio.udp, timeout_ns);
}
