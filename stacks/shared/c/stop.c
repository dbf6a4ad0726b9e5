#include "stop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>

static int signals = -1;
static bool requested;

void stop_install(void) {
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigprocmask(SIG_BLOCK, &ours, NULL);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1);
    signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) {
        perror("signalfd");
        exit(1);
    }
}

bool stop_requested(void) {
    return requested;
}

int stop_descriptor(void) {
    return signals;
}

void stop_request(void) {
    requested = true;
}

void stop_poll(struct pollfd *descriptors, nfds_t count, long long timeout_ns) {
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    descriptors[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    if (ppoll(descriptors, count, timeout_ns < 0 ? NULL : &timeout, NULL) < 0) {
        perror("ppoll");
        exit(1);
    }
    if (descriptors[0].revents)
        stop_request();
}

long long stop_timeout(uint64_t then_ns, uint64_t now_ns) {
    if (then_ns == UINT64_MAX)
        return -1;
    return then_ns > now_ns ? (long long)(then_ns - now_ns) : 0;
}
