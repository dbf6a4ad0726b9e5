/* An endpoint over OpenSSL's QUIC: see docs/reference/endpoint-contract.md. */
#include "client.h"
#include "events.h"
#include "knobs.h"
#include "server.h"
#include "stop.h"

#include <openssl/crypto.h>
#include <stdio.h>

int endpoint_main(int argc, char **argv) {
    struct options options = options_parse(argc, argv, &ENDPOINT);
    if (options.role == ROLE_DESCRIBE) {
        event_describe("openssl", OPENSSL_VERSION_STR, &ENDPOINT);
        return 0;
    }
    stop_install();
    return options.role == ROLE_SERVER ? server_run(&options) : client_run(&options);
}
