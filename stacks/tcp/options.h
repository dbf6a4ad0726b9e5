/* The command line of docs/endpoint-contract.md. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { EXIT_USAGE = 2, EXIT_UNSUPPORTED = 127 };
enum role { ROLE_SERVER, ROLE_CLIENT, ROLE_DESCRIBE };

/* A request for this much never ends within a trial. */
#define ENDLESS_BYTES UINT64_C(1000000000000)

/* What --set changes. Each side takes every key, since a flow's options go to
   both, and uses its own. */
struct knobs {
    uint64_t sndbuf;        /* bytes, sender: SO_SNDBUF */
    uint64_t rcvbuf;        /* bytes, receiver: SO_RCVBUF */
    uint64_t notsent_lowat; /* bytes, sender: TCP_NOTSENT_LOWAT */
    uint64_t rcvlowat;      /* bytes, receiver: SO_RCVLOWAT once data flows */
    uint64_t maxpacingrate; /* bytes per second, sender: SO_MAX_PACING_RATE; 0 = unlimited */
    uint64_t poll_ms;       /* sender: TCP_INFO into the transport log every so often; 0 = never */
    uint64_t nodelay;       /* TCP_NODELAY */
    uint64_t tls;           /* 1 = TLS 1.3, 0 = raw */
};

struct options {
    enum role role;
    const char *address; /* numeric host */
    const char *port;
    const char *cca;
    const char *cert;
    const char *key;
    const char *server_name;
    const char *transport_log; /* NULL = none */
    uint64_t bytes;            /* all streams together; ENDLESS_BYTES = until SIGTERM */
    unsigned streams;          /* parallel connections */
    struct knobs knobs;
};

/* Reads the command line; on a mistake prints one line and exits with
   EXIT_USAGE or EXIT_UNSUPPORTED. */
struct options options_parse(int argc, char **argv);

#endif
