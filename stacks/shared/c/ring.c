#include "ring.h"

#include "stop.h"

#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>

/* AT_ONCE: datagrams that the kernel takes from a socket before it does other work (MULTISHOT_MAX_RETRY). */
enum { GROUP = 0, PAGE_BYTES = 4096, QUEUE = 2 * UDP_BATCH, AT_ONCE = 32 };
/* What the kernel writes: its own head, the peer's address, the control message, the datagram. */
enum {
    PEER_BYTES = sizeof(struct sockaddr_storage),
    BUFFER_BYTES = sizeof(struct io_uring_recvmsg_out) + PEER_BYTES + UDP_CONTROL_BYTES + UDP_DATAGRAM_BYTES,
};
/* Whose completion it is. A smaller number is the place of a datagram that could not be sent. */
enum { RECEIVING = UDP_BATCH, STOPPING };

struct buffer {
    _Alignas(64) uint8_t bytes[BUFFER_BYTES];
};

static struct {
    struct io_uring queues;
    int socket;
    struct msghdr form; /* of what is received: room for a peer and a control message */
    bool receiving;     /* the kernel still has the request */
    struct mmsghdr *sending;
    unsigned lent[UDP_BATCH]; /* buffers of the caller's datagrams */
    unsigned lent_count;
    struct buffer buffers[UDP_BATCH];
} ring;
static _Alignas(PAGE_BYTES) struct io_uring_buf spare[UDP_BATCH];

static struct io_uring_buf_ring *spares(void) {
    return (struct io_uring_buf_ring *)spare;
}

static void lend(unsigned id, int offset) {
    io_uring_buf_ring_add(spares(), ring.buffers[id].bytes, BUFFER_BYTES, (unsigned short)id,
                          io_uring_buf_ring_mask(UDP_BATCH), offset);
}

/* The queue has room for a whole batch and both requests. */
static struct io_uring_sqe *request(void) {
    return io_uring_get_sqe(&ring.queues);
}

/* One request for all datagrams to come. It ends when the buffers run out. */
static void receive(void) {
    struct io_uring_sqe *entry = request();
    io_uring_prep_recvmsg_multishot(entry, ring.socket, &ring.form, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = GROUP;
    io_uring_sqe_set_data64(entry, RECEIVING);
    ring.receiving = true;
}

bool ring_open(int socket) {
    struct io_uring_params parameters = {
        /* Completions are made by the waiting call itself, on our thread; a flag tells when more wait to be made. */
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
    };
    if (io_uring_queue_init_params(QUEUE, &ring.queues, &parameters))
        return false;
    struct io_uring_buf_reg about = {
        .ring_addr = (uintptr_t)spare, .ring_entries = UDP_BATCH, .bgid = GROUP};
    if (io_uring_register_buf_ring(&ring.queues, &about, 0)) {
        io_uring_queue_exit(&ring.queues);
        return false;
    }
    io_uring_buf_ring_init(spares());
    for (unsigned i = 0; i < UDP_BATCH; i++)
        lend(i, (int)i);
    io_uring_buf_ring_advance(spares(), UDP_BATCH);
    ring.socket = socket;
    ring.form = (struct msghdr){.msg_namelen = PEER_BYTES, .msg_controllen = UDP_CONTROL_BYTES};
    struct io_uring_sqe *entry = request();
    io_uring_prep_poll_add(entry, stop_descriptor(), POLLIN);
    io_uring_sqe_set_data64(entry, STOPPING);
    return true;
}

static void take_back(void) {
    for (unsigned i = 0; i < ring.lent_count; i++)
        lend(ring.lent[i], (int)i);
    io_uring_buf_ring_advance(spares(), (int)ring.lent_count);
    ring.lent_count = 0;
}

/* At once or not at all, so that datagrams leave in their order. Only a failure is told. */
static void send_one(unsigned place) {
    struct io_uring_sqe *entry = request();
    io_uring_prep_sendmsg(entry, ring.socket, &ring.sending[place].msg_hdr, MSG_DONTWAIT);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(entry, place);
}

/* A wait that ends by its timeout is an error, which takes a microsecond in virtual time, unless the same call has
   submitted something. */
static void succeed(void) {
    struct io_uring_sqe *entry = request();
    io_uring_prep_nop(entry);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

void ring_wait(struct mmsghdr *headers, unsigned count, long long timeout_ns) {
    struct __kernel_timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    struct io_uring_cqe *first;
    take_back();
    if (!ring.receiving)
        receive();
    ring.sending = headers;
    for (unsigned i = 0; i < count; i++)
        send_one(i);
    if (!count)
        succeed();
    int error = io_uring_submit_and_wait_timeout(&ring.queues, &first, 1, timeout_ns < 0 ? NULL : &timeout, NULL);
    if (error < 0 && error != -ETIME && error != -EINTR) {
        errno = -error;
        perror("io_uring_enter");
        exit(1);
    }
}

static struct datagram datagram(const struct io_uring_cqe *completion) {
    unsigned id = completion->flags >> IORING_CQE_BUFFER_SHIFT;
    struct io_uring_recvmsg_out *out =
        io_uring_recvmsg_validate(ring.buffers[id].bytes, completion->res, &ring.form);
    struct msghdr header = {.msg_control = io_uring_recvmsg_cmsg_firsthdr(out, &ring.form),
                            .msg_controllen = out->controllen};
    ring.lent[ring.lent_count++] = id;
    return (struct datagram){
        .data = io_uring_recvmsg_payload(out, &ring.form),
        .size = io_uring_recvmsg_payload_length(out, completion->res, &ring.form),
        .peer = io_uring_recvmsg_name(out),
        .peer_length = out->namelen,
        .ecn = udp_ecn(&header),
    };
}

/* A full send buffer is waited for, as a plain call would; any other datagram that could not be sent is lost. */
static void not_sent(unsigned place, int error) {
    if (error == -EAGAIN)
        sendmsg(ring.socket, &ring.sending[place].msg_hdr, 0);
}

/* Handles one completion; returns an error's number, or 0. */
static int take(const struct io_uring_cqe *completion, struct datagram list[UDP_BATCH], int *count) {
    uint64_t whose = io_uring_cqe_get_data64(completion);
    if (whose == STOPPING) {
        stop_request();
    } else if (whose != RECEIVING) {
        not_sent((unsigned)whose, completion->res);
    } else {
        ring.receiving = completion->flags & IORING_CQE_F_MORE;
        if (completion->res >= 0)
            list[(*count)++] = datagram(completion);
        else if (completion->res != -ENOBUFS)
            return -completion->res;
    }
    return 0;
}

/* Enters the kernel for what it has not told yet; returns how many completions there are. */
static unsigned ask(void) {
    if (!ring.receiving) {
        receive();
        io_uring_submit(&ring.queues);
    } else {
        io_uring_get_events(&ring.queues);
    }
    return io_uring_cq_ready(&ring.queues);
}

int ring_receive(struct datagram list[UDP_BATCH]) {
    int count = 0, error = 0;
    take_back();
    unsigned ready = io_uring_cq_ready(&ring.queues);
    while (ready) {
        /* With fewer the socket was empty, and what has come since is for the next wait. */
        bool more = ready >= AT_ONCE;
        for (; ready && count < UDP_BATCH && !error; ready--) {
            struct io_uring_cqe *completion;
            io_uring_peek_cqe(&ring.queues, &completion);
            error = take(completion, list, &count);
            io_uring_cqe_seen(&ring.queues, completion);
        }
        if (count == UDP_BATCH || error)
            break;
        ready = more || !ring.receiving ? ask() : 0;
    }
    errno = error;
    return error && !count ? -1 : count;
}
