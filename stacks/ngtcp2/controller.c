#include "controller.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const char *line, const char *with) {
    return !strncmp(line, with, strlen(with));
}

/* "bbr enter Startup", "bbr2 start ProbeBW_UP", "bbr exit Startup and enter Drain"… */
static const char *bbr_state(const char *line) {
    static const struct {
        const char *said, *state;
    } STATES[] = {
        {"enter Startup", "startup"},
        {"enter Drain", "drain"},
        {"enter ProbeBW", "probe_bw"},
        {"enter ProbeRTT", "probe_rtt"},
        {"start ProbeBW_DOWN", "probe_bw_down"},
        {"start ProbeBW_CRUISE", "probe_bw_cruise"},
        {"start ProbeBW_REFILL", "probe_bw_refill"},
        {"start ProbeBW_UP", "probe_bw_up"},
    };
    for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++)
        if (strstr(line, STATES[i].said))
            return STATES[i].state;
    return NULL;
}

static void hears_bbr(struct controller *controller, const char *name, const char *line) {
    const char *state = bbr_state(line);
    controller->name = name;
    if (state)
        controller->state = state;
}

/* Path-MTU discovery's probes are no congestion signal, and the line of their loss is as of any packet. */
static bool hears_packet(struct controller *controller, const char *line) {
    if (begins(line, "sending PMTUD probe packet"))
        controller->probe_is_next = true;
    else if (controller->probe_is_next && begins(line, "tx pkn=")) {
        controller->probe = strtoll(line + strlen("tx pkn="), NULL, 10);
        controller->probe_is_next = false;
    } else if (begins(line, "pkn=") && strstr(line, " lost type="))
        controller->lost += strtoll(line + strlen("pkn="), NULL, 10) != controller->probe;
    else
        return false;
    return true;
}

void controller_hears(struct controller *controller, const char *line) {
    if (hears_packet(controller, line))
        return;
    if (begins(line, "bbr ")) {
        hears_bbr(controller, "bbr", line);
    } else if (begins(line, "bbr2 ")) {
        hears_bbr(controller, "bbr2", line);
    } else if (begins(line, "reduce cwnd because of packet loss")) {
        controller->reductions++;
    } else if (begins(line, "spurious congestion is detected")) {
        controller->undone++;
    } else if (!controller->name) {
        /* The two formats are each one controller's: lib/ngtcp2_cc.c. 0.12's reno and cubic share the
           first, so that only cubic's congestion avoidance tells. */
        if (strstr(line, "cubic-ca ") || strstr(line, " bytes acked, slow start"))
            controller->name = "cubic";
        else if (controller->reno_is_told && begins(line, "pkn=") && strstr(line, " acked, slow start"))
            controller->name = "reno";
    }
}

static bool is_bbr(const struct controller *controller) {
    return controller->name && begins(controller->name, "bbr");
}

uint64_t controller_events(const struct controller *controller) {
    return is_bbr(controller) ? controller->lost : controller->reductions;
}

const char *controller_state(const struct controller *controller, uint64_t cwnd, uint64_t ssthresh) {
    if (controller->state)
        return controller->state;
    if (is_bbr(controller))
        return "startup"; /* 0.12's bbr names its first state only when it leaves it */
    return cwnd < ssthresh ? "slow_start" : "congestion_avoidance";
}
