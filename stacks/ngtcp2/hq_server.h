/* hq-interop's server: answers GET /N with N bytes. */
#ifndef HQ_SERVER_H
#define HQ_SERVER_H

#include "connection.h"

extern const struct application HQ_SERVER;

/* Body bytes handed to packets, retransmissions not counted. */
uint64_t hq_server_bytes(void);
/* Something was asked for, and all of it has been sent at least once. */
bool hq_server_complete(void);

#endif
