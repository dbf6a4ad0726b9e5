/* What a request's path stands for. */
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page {
    bool found;
    const char *type; /* content-type */
    uint64_t bytes;
    uint8_t *data; /* NULL = generated; else page_free's to free */
};

/* www: a folder, or NULL or "" for generated bodies. path: as the client sent it. A path that is
   no plain file below www is not found. */
struct page page_open(const char *www, const char *path);
void page_free(struct page *page);

#endif
