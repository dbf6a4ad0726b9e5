#include "hq.h"
#include "options.h"

#undef NDEBUG
#include <assert.h>
#include <string.h>

static enum hq feed(struct hq_request *request, const char *text, uint64_t *bytes) {
    return hq_feed(request, text, strlen(text), bytes);
}

static void a_request_may_come_in_pieces(void) {
    struct hq_request request = {0};
    uint64_t bytes;
    assert(feed(&request, "GET /12", &bytes) == HQ_MORE);
    assert(feed(&request, "3\r", &bytes) == HQ_MORE);
    assert(feed(&request, "\n", &bytes) == HQ_READY && bytes == 123);
}

static void zero_is_endless(void) {
    struct hq_request request = {0};
    uint64_t bytes;
    assert(feed(&request, "GET /0\r\n", &bytes) == HQ_READY && bytes == ENDLESS_BYTES);
}

static void anything_else_is_wrong(void) {
    static const char *const WRONG[] = {"GET /\r\n", "GET /1 HTTP/1.1\r\n", "PUT /1\r\n", "GET /1\n", "GET /-1\r\n"};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        struct hq_request request = {0};
        uint64_t bytes;
        assert(feed(&request, WRONG[i], &bytes) == HQ_WRONG);
    }
}

static void a_request_without_end_is_wrong(void) {
    struct hq_request request = {0};
    uint64_t bytes;
    char text[2 * HQ_REQUEST_BYTES];
    memset(text, '1', sizeof text);
    assert(hq_feed(&request, text, HQ_REQUEST_BYTES - 1, &bytes) == HQ_WRONG);
    request = (struct hq_request){0};
    assert(hq_feed(&request, text, sizeof text, &bytes) == HQ_WRONG);
}

static void shares_are_even_and_add_up(void) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t share = hq_share(1000003, 3, i);
        assert(share == 333334 || share == 333335);
        sum += share;
    }
    assert(sum == 1000003);
}

static void what_is_written_is_understood(void) {
    struct hq_request request = {0};
    char text[HQ_REQUEST_BYTES];
    uint64_t bytes;
    assert(hq_feed(&request, text, hq_write(text, UINT64_MAX), &bytes) == HQ_READY && bytes == UINT64_MAX);
}

int main(void) {
    a_request_may_come_in_pieces();
    zero_is_endless();
    anything_else_is_wrong();
    a_request_without_end_is_wrong();
    shares_are_even_and_add_up();
    what_is_written_is_understood();
    return 0;
}
