#include "protocol.h"

#include "hq_server.h"
#if WITH_HTTP3
#include "h3_server.h"
#endif

#include <string.h>

static const struct protocol HQ = {"hq-interop", &HQ_SERVER, hq_server_bytes, hq_server_complete};
#if WITH_HTTP3
static const struct protocol H3 = {"h3", &H3_SERVER, h3_server_bytes, h3_server_complete};
#endif

const struct protocol *protocol_find(const char *alpn) {
#if WITH_HTTP3
    if (!strcmp(alpn, H3.alpn))
        return &H3;
#endif
    (void)alpn;
    return &HQ;
}
