/* HTTP/3's server, on nghttp3: the files of --www, or without it GET /N with N bytes. */
#ifndef H3_SERVER_H
#define H3_SERVER_H

#include "connection.h"

extern const struct application H3_SERVER;

/* Body bytes handed to packets, retransmissions not counted. */
uint64_t h3_server_bytes(void);
/* Something was asked for, and every answer has been sent in full at least once. */
bool h3_server_complete(void);

#endif
