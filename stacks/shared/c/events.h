/* The JSON lines that an endpoint prints (docs/reference/endpoint-contract.md). */
#ifndef EVENTS_H
#define EVENTS_H

#include "options.h"

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_REALTIME in nanoseconds. */
uint64_t realtime_ns(void);

/* The answer to `describe`, for an endpoint with both roles and a list of CCAs. */
void event_describe(const char *name, const char *version, const struct endpoint *endpoint);

void event_ready(int port);
/* confirmed: the name that the stack gave back, or NULL when it would not say. how: one phrase. */
void event_cca(const char *requested, const char *confirmed, const char *how);
void event_connected(void);
void event_progress(uint64_t time_ns, uint64_t bytes);
/* error: NULL when nothing went wrong. */
void event_done(uint64_t bytes, bool complete, const char *error);

/* Prints text as a JSON string, or null for NULL, without a line end. */
void print_json_string(const char *text);

#endif
