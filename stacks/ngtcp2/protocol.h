/* What a server speaks, by its ALPN. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include "connection.h"

struct protocol {
    const char *alpn;
    const struct application *application;
    uint64_t (*bytes)(void); /* of bodies, sent */
    bool (*complete)(void);  /* every request was answered in full */
};

/* alpn: one of the endpoint's. */
const struct protocol *protocol_find(const char *alpn);

#endif
