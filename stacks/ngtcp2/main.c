/* An endpoint over ngtcp2: see docs/reference/endpoint-contract.md. */
#include "client.h"
#include "events.h"
#include "knobs.h"
#include "server.h"
#include "stop.h"

#include <ngtcp2/ngtcp2.h>
#include <string.h>

int main(int argc, char **argv) {
    struct options options = options_parse(argc, argv, &ENDPOINT);
    if (options.role == ROLE_DESCRIBE) {
        event_describe(STACK, ngtcp2_version(0)->version_str, &ENDPOINT);
        return 0;
    }
    stop_install();
    if (options.role == ROLE_CLIENT && strcmp(options.alpn, "hq-interop"))
        options_refuse(EXIT_UNSUPPORTED, "--alpn %s: the client speaks hq-interop", options.alpn);
    return options.role == ROLE_SERVER ? server_run(&options) : client_run(&options);
}
