/* hq-interop, HTTP/0.9 over a stream: "GET /N\r\n" asks for N bytes. */
#ifndef HQ_H
#define HQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HQ_REQUEST_BYTES = 64 };

/* What has come of one request so far. */
struct hq_request {
    char text[HQ_REQUEST_BYTES];
    size_t length;
};

enum hq { HQ_MORE, HQ_READY, HQ_WRONG };

/* Where the next bytes of the request go; the end's NUL is not part of *room. */
char *hq_room(struct hq_request *request, size_t *room);
/* size bytes have been put there. HQ_READY: *bytes is the body's size (ENDLESS_BYTES for /0). */
enum hq hq_taken(struct hq_request *request, size_t size, uint64_t *bytes);
/* The two in one, for bytes that lie elsewhere. */
enum hq hq_feed(struct hq_request *request, const void *data, size_t size, uint64_t *bytes);

/* Writes the request for so many bytes into text; returns its length. */
size_t hq_write(char text[HQ_REQUEST_BYTES], uint64_t bytes);

/* Body bytes of the index-th of so many streams, so that all get their even share. */
uint64_t hq_share(uint64_t bytes, unsigned streams, unsigned index);

/* What every body is made of: one buffer, so that its pages stay warm. */
enum { HQ_BODY_BYTES = 256 << 10 };
const char *hq_body(void);

#endif
