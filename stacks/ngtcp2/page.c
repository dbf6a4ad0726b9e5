#include "page.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *type_of(const char *path) {
    const char *dot = strrchr(path, '.');
    if (dot && !strcmp(dot, ".html"))
        return "text/html; charset=utf-8";
    if (dot && !strcmp(dot, ".jpg"))
        return "image/jpeg";
    return "application/octet-stream";
}

/* "/N" */
static struct page generated(const char *path) {
    struct page page = {.type = "application/octet-stream"};
    size_t digits = *path == '/' ? strspn(path + 1, "0123456789") : 0;
    page.found = digits > 0 && digits < 19 && !path[1 + digits];
    if (page.found)
        page.bytes = strtoull(path + 1, NULL, 10);
    return page;
}

static bool read_all(int descriptor, uint8_t *to, uint64_t bytes) {
    while (bytes > 0) {
        ssize_t got = read(descriptor, to, bytes);
        if (got <= 0)
            return false;
        to += got;
        bytes -= (uint64_t)got;
    }
    return true;
}

static struct page read_file(const char *name) {
    struct page page = {.type = type_of(name)};
    struct stat about;
    int descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return page;
    if (!fstat(descriptor, &about) && S_ISREG(about.st_mode)) {
        page.bytes = (uint64_t)about.st_size;
        page.data = malloc(page.bytes + 1);
        page.found = page.data && read_all(descriptor, page.data, page.bytes);
    }
    close(descriptor);
    if (!page.found)
        page_free(&page);
    return page;
}

struct page page_open(const char *www, const char *path) {
    char name[PATH_MAX];
    if (!www || !*www)
        return generated(path);
    const char *file = strcmp(path, "/") ? path : "/index.html";
    if (*file != '/' || strstr(file, "..") || snprintf(name, sizeof name, "%s%s", www, file) >= (int)sizeof name)
        return (struct page){.type = type_of(path)};
    return read_file(name);
}

void page_free(struct page *page) {
    free(page->data);
    *page = (struct page){.type = page->type};
}
