#include "transport_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

FILE *transport_log_open(const char *path) {
    FILE *log = fopen(path, "w");
    if (!log) {
        fprintf(stderr, "%s: --transport-log %s: %s\n", program_invocation_short_name, path, strerror(errno));
        exit(1);
    }
    /* glibc keeps to the size of a buffer only if it is given one. */
    static char block[64 << 10];
    setvbuf(log, block, _IOFBF, sizeof block);
    fputs("time_ns,event,cwnd_bytes,ssthresh_bytes,in_flight_bytes,srtt_us,pacing_bps,state\n", log);
    return log;
}

static void field(FILE *log, uint64_t value) {
    if (value != NOT_SAID)
        fprintf(log, "%" PRIu64, value);
    fputc(',', log);
}

void transport_log_write(FILE *log, const struct transport_row *row) {
    fprintf(log, "%" PRIu64 ",%s,", row->time_ns, row->event);
    field(log, row->cwnd_bytes);
    field(log, row->ssthresh_bytes);
    field(log, row->in_flight_bytes);
    field(log, row->srtt_us);
    field(log, row->pacing_bps);
    fprintf(log, "%s\n", row->state);
}
