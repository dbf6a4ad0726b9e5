#include "address.h"

#include <netinet/in.h>

struct addrinfo *address_resolve(const struct options *options, int type) {
    struct addrinfo hints = {.ai_socktype = type, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found;
    int error = getaddrinfo(options->address, options->port, &hints, &found);
    if (error)
        options_refuse(EXIT_USAGE, "%s:%s: %s; want a numeric address and port", options->address, options->port,
                       gai_strerror(error));
    return found;
}

int address_port(int descriptor) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length))
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}
