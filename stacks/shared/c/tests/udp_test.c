/* A server's socket without io_uring: the calls that every kernel has. */
#include "ring.h"
#include "stop.h"

#undef NDEBUG
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool ring_open(int socket) {
    (void)socket;
    return false;
}

void ring_wait(struct mmsghdr *headers, unsigned count, long long timeout_ns) {
    (void)headers, (void)count, (void)timeout_ns;
    abort();
}

int ring_receive(struct datagram list[UDP_BATCH]) {
    (void)list;
    abort();
}

static const long long FOR_EVER = -1, SHORT_NS = 1000000;

static int peer_of(const struct udp *udp) {
    int peer = socket(AF_INET, SOCK_DGRAM, 0), ect0 = 2;
    assert(!setsockopt(peer, IPPROTO_IP, IP_TOS, &ect0, sizeof ect0));
    assert(!connect(peer, (const struct sockaddr *)&udp->local, udp->local_length));
    return peer;
}

static void a_wait_ends_by_its_timeout(const struct udp *udp) {
    struct datagram list[UDP_BATCH];
    udp_wait(udp, SHORT_NS);
    assert(udp_receive(udp, list) == 0);
    assert(!stop_requested());
}

static void what_is_queued_leaves_before_the_wait(const struct udp *udp, int peer) {
    struct datagram list[UDP_BATCH];
    char text[8];
    assert(send(peer, "one", 3, 0) == 3 && send(peer, "three", 5, 0) == 5);
    udp_wait(udp, FOR_EVER);
    assert(udp_receive(udp, list) == 2);
    assert(list[0].size == 3 && !memcmp(list[0].data, "one", 3) && list[0].ecn == 2);
    assert(list[1].size == 5 && !memcmp(list[1].data, "three", 5));
    memcpy(udp_room(udp), "answer", 6);
    udp_queue(udp, 6, list[0].peer, list[0].peer_length, 1);
    assert(recv(peer, text, sizeof text, MSG_DONTWAIT) < 0);
    udp_wait(udp, SHORT_NS);
    assert(recv(peer, text, sizeof text, MSG_DONTWAIT) == 6 && !memcmp(text, "answer", 6));
    assert(udp_receive(udp, list) == 0);
}

static void more_than_a_batch_comes_in_two(const struct udp *udp, int peer) {
    struct datagram list[UDP_BATCH];
    for (int i = 0; i < UDP_BATCH + 1; i++)
        assert(send(peer, "x", 1, 0) == 1);
    udp_wait(udp, FOR_EVER);
    assert(udp_receive(udp, list) == UDP_BATCH);
    assert(udp_receive(udp, list) == 1);
}

static void a_signal_ends_a_wait(const struct udp *udp) {
    kill(getpid(), SIGTERM);
    udp_wait(udp, FOR_EVER);
    assert(stop_requested());
}

int main(void) {
    struct options options = {.role = ROLE_SERVER, .address = "127.0.0.1", .port = "0"};
    stop_install();
    struct udp udp = udp_open(&options);
    int peer = peer_of(&udp);
    a_wait_ends_by_its_timeout(&udp);
    what_is_queued_leaves_before_the_wait(&udp, peer);
    more_than_a_batch_comes_in_two(&udp, peer);
    a_signal_ends_a_wait(&udp);
    close(peer);
    return 0;
}
