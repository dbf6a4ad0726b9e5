/* The command line of docs/reference/endpoint-contract.md. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXIT_USAGE = 2, EXIT_UNSUPPORTED = 127 };
enum role { ROLE_SERVER, ROLE_CLIENT, ROLE_DESCRIBE };

/* A request for this much never ends within a trial. */
#define ENDLESS_BYTES UINT64_C(1000000000000)

/* One --set key: the values that it takes, and where they go. Each side takes
   every key, since a flow's options go to both, and uses its own. */
struct knob {
    const char *name;
    uint64_t *value;
    uint64_t minimum, maximum; /* 0 and 1: a boolean, which takes true and false */
};

/* What one endpoint can do. Lists end with NULL. */
struct endpoint {
    const char *const *alpns; /* the first is the default */
    const char *const *ccas;  /* NULL = known only when it is asked for */
    bool certificate;         /* a server always needs --cert and --key */
    bool pages;               /* a server takes --www */
    const struct knob *knobs;
    size_t knob_count;
};

struct options {
    enum role role;
    const char *address; /* numeric host */
    const char *port;
    const char *alpn;
    const char *cca;
    const char *cert;
    const char *key;
    const char *server_name;
    const char *transport_log; /* NULL = none */
    const char *www;           /* the folder of pages to serve; NULL or "" = none */
    uint64_t bytes;            /* all streams together; ENDLESS_BYTES = until SIGTERM */
    unsigned streams;
};

/* Reads the command line; on a mistake prints one line and exits with
   EXIT_USAGE or EXIT_UNSUPPORTED. */
struct options options_parse(int argc, char **argv, const struct endpoint *endpoint);

/* Prints one line with the program's name before it, and exits. */
__attribute__((noreturn, format(printf, 2, 3))) void options_refuse(int status, const char *format, ...);

#endif
