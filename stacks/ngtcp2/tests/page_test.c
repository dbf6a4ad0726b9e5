/* What a path stands for; argv[1]: a folder with index.html (5 bytes) and a.jpg (0 bytes). */
#include "page.h"

#undef NDEBUG
#include <assert.h>
#include <string.h>

int main(int argc, char **argv) {
    assert(argc == 2);
    struct page page = page_open(argv[1], "/");
    assert(page.found && page.bytes == 5 && !strcmp(page.type, "text/html; charset=utf-8"));
    page_free(&page);
    page = page_open(argv[1], "/a.jpg");
    assert(page.found && page.bytes == 0 && !strcmp(page.type, "image/jpeg"));
    page_free(&page);
    assert(!page_open(argv[1], "/../secret").found);
    assert(!page_open(argv[1], "/none.html").found);
    assert(!page_open(argv[1], "/sub").found); /* a folder */
    assert(!page_open(argv[1], "a.jpg").found);

    page = page_open("", "/123");
    assert(page.found && page.bytes == 123 && !page.data);
    assert(page_open(NULL, "/0").found);
    assert(!page_open(NULL, "/").found && !page_open(NULL, "/12x").found);
    assert(!page_open(NULL, "/99999999999999999999").found);
    return 0;
}
