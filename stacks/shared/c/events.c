#include "events.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

uint64_t realtime_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void print_json_string(const char *text) {
    if (!text) {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++) {
        if (*byte == '"' || *byte == '\\')
            printf("\\%c", *byte);
        else if (*byte < 0x20)
            printf("\\u%04x", *byte);
        else
            putchar(*byte);
    }
    putchar('"');
}

static void print_list(const char *name, const char *const *list) {
    printf(",\"%s\":[", name);
    for (const char *const *item = list; *item; item++) {
        if (item != list)
            putchar(',');
        print_json_string(*item);
    }
    putchar(']');
}

void event_describe(const char *name, const char *version, const struct endpoint *endpoint) {
    static const char *const ROLES[] = {"server", "client", NULL};
    fputs("{\"name\":", stdout);
    print_json_string(name);
    fputs(",\"version\":", stdout);
    print_json_string(version);
    print_list("ccas", endpoint->ccas);
    print_list("roles", ROLES);
    print_list("alpns", endpoint->alpns);
    puts("}");
}

void event_ready(int port) {
    printf("{\"event\":\"ready\",\"role\":\"server\",\"port\":%d}\n", port);
    fflush(stdout);
}

void event_cca(const char *requested, const char *confirmed, const char *how) {
    fputs("{\"event\":\"cca\",\"requested\":", stdout);
    print_json_string(requested);
    fputs(",\"confirmed\":", stdout);
    print_json_string(confirmed);
    fputs(",\"how\":", stdout);
    print_json_string(how);
    fputs("}\n", stdout);
    fflush(stdout);
}

void event_connected(void) {
    printf("{\"event\":\"connected\",\"time_ns\":%" PRIu64 "}\n", realtime_ns());
    fflush(stdout);
}

void event_progress(uint64_t time_ns, uint64_t bytes) {
    printf("{\"event\":\"progress\",\"time_ns\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n", time_ns, bytes);
    fflush(stdout);
}

void event_done(uint64_t bytes, bool complete, const char *error) {
    printf("{\"event\":\"done\",\"time_ns\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"complete\":%s,\"error\":",
           realtime_ns(), bytes, complete ? "true" : "false");
    print_json_string(error);
    fputs("}\n", stdout);
    fflush(stdout);
}
