/* The transport log of docs/reference/endpoint-contract.md: CSV, one row a controller event. */
#ifndef TRANSPORT_LOG_H
#define TRANSPORT_LOG_H

#include <stdint.h>
#include <stdio.h>

#define NOT_SAID UINT64_MAX

struct transport_row {
    const char *event;
    uint64_t time_ns; /* CLOCK_REALTIME */
    uint64_t cwnd_bytes, ssthresh_bytes, in_flight_bytes, srtt_us, pacing_bps; /* NOT_SAID = empty */
    const char *state; /* "" = the stack does not say */
};

/* Opens the log with its head, buffered in blocks of 64 KiB; exits with 1 on failure. */
FILE *transport_log_open(const char *path);
void transport_log_write(FILE *log, const struct transport_row *row);

#endif
