/* A lean endpoint over kernel TCP: see docs/reference/endpoint-contract.md. */
#include "client.h"
#include "events.h"
#include "knobs.h"
#include "server.h"
#include "sockets.h"
#include "stop.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The stack is the running kernel, so its release is the version. */
static int describe(void) {
    struct utsname system;
    char list[512];
    uname(&system);
    fputs("{\"name\":\"tcp\",\"version\":", stdout);
    print_json_string(system.release);
    fputs(",\"ccas\":[", stdout);
    socket_ccas(list, sizeof list);
    const char *separator = "";
    for (char *name = strtok(list, " "); name; name = strtok(NULL, " ")) {
        fputs(separator, stdout);
        print_json_string(name);
        separator = ",";
    }
    puts("],\"roles\":[\"server\",\"client\"],\"alpns\":[\"hq-interop\"]}");
    return 0;
}

int main(int argc, char **argv) {
    struct options options = options_parse(argc, argv, &ENDPOINT);
    if (options.role == ROLE_DESCRIBE)
        return describe();
    if (options.role == ROLE_SERVER && knobs.tls && (!options.cert || !options.key))
        options_refuse(EXIT_USAGE, "a TLS server needs --cert FILE and --key FILE");
    stop_install();
    return options.role == ROLE_SERVER ? server_run(&options) : client_run(&options);
}
