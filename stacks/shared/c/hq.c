#include "hq.h"

#include "options.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse(const char *text, uint64_t *bytes) {
    char *end;
    if (strncmp(text, "GET /", 5) || !isdigit((unsigned char)text[5]))
        return false;
    *bytes = strtoull(text + 5, &end, 10);
    if (*bytes == 0)
        *bytes = ENDLESS_BYTES;
    return !strcmp(end, "\r\n");
}

char *hq_room(struct hq_request *request, size_t *room) {
    *room = HQ_REQUEST_BYTES - 1 - request->length;
    return request->text + request->length;
}

enum hq hq_taken(struct hq_request *request, size_t size, uint64_t *bytes) {
    request->length += size;
    request->text[request->length] = '\0';
    if (!strchr(request->text, '\n') && request->length < HQ_REQUEST_BYTES - 1)
        return HQ_MORE;
    return parse(request->text, bytes) ? HQ_READY : HQ_WRONG;
}

enum hq hq_feed(struct hq_request *request, const void *data, size_t size, uint64_t *bytes) {
    size_t room;
    char *to = hq_room(request, &room);
    if (size > room)
        return HQ_WRONG;
    memcpy(to, data, size);
    return hq_taken(request, size, bytes);
}

size_t hq_write(char text[HQ_REQUEST_BYTES], uint64_t bytes) {
    return (size_t)snprintf(text, HQ_REQUEST_BYTES, "GET /%" PRIu64 "\r\n", bytes);
}

uint64_t hq_share(uint64_t bytes, unsigned streams, unsigned index) {
    return bytes / streams + (index < bytes % streams);
}

const char *hq_body(void) {
    static char body[HQ_BODY_BYTES];
    if (!body[0])
        memset(body, 'x', sizeof body);
    return body;
}
