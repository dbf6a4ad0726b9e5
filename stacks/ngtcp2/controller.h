/* What ngtcp2's congestion controller says of itself. Its API says neither which controller runs
   nor in what state it is; the library's debug log does, in the controller's own words. */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

struct controller {
    bool reno_is_told;  /* the library's reno writes lines that its cubic does not */
    const char *name;   /* NULL until the log has named it */
    const char *state;  /* a BBR's, as named in the log; NULL = it named none */
    uint64_t reductions, undone; /* of cwnd because of loss, and taken back as spurious */
    uint64_t lost;               /* packets declared lost, without probes for larger packets */
    bool probe_is_next;          /* the next packet to leave is such a probe */
    int64_t probe;               /* the last one's number */
};

/* One line of the log, without its time, connection and category. */
void controller_hears(struct controller *controller, const char *line);

/* How many congestion events there have been: a BBR, which names none, has one in each batch of losses. */
uint64_t controller_events(const struct controller *controller);

/* The state for the transport log; "" = not said. */
const char *controller_state(const struct controller *controller, uint64_t cwnd, uint64_t ssthresh);

#endif
