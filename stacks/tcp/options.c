#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] =
    "usage: cambrian-tcp server --listen ADDR:PORT --cca NAME [--cert FILE --key FILE] [--transport-log FILE]\n"
    "       cambrian-tcp client --connect ADDR:PORT [--bytes N] [--streams N] [--path /N] [--server-name NAME]\n"
    "       cambrian-tcp describe\n"
    "both sides: [--alpn hq-interop] [--tls] [--set KEY=VALUE]...\n";

/* Every --set key, the values that it takes, and where they go. */
static const struct knob {
    const char *name;
    size_t offset;
    uint64_t minimum, maximum;
} KNOBS[] = {
    {"sndbuf", offsetof(struct knobs, sndbuf), 0, INT_MAX},
    {"rcvbuf", offsetof(struct knobs, rcvbuf), 0, INT_MAX},
    {"notsent_lowat", offsetof(struct knobs, notsent_lowat), 1, INT_MAX},
    {"rcvlowat", offsetof(struct knobs, rcvlowat), 1, INT_MAX},
    {"maxpacingrate", offsetof(struct knobs, maxpacingrate), 0, UINT64_MAX},
    {"poll_ms", offsetof(struct knobs, poll_ms), 0, 60000},
    {"nodelay", offsetof(struct knobs, nodelay), 0, 1},
    {"tls", offsetof(struct knobs, tls), 0, 1},
};
enum { KNOB_COUNT = sizeof KNOBS / sizeof KNOBS[0] };

__attribute__((noreturn, format(printf, 2, 3))) static void refuse(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("cambrian-tcp: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(status);
}

static uint64_t number(const char *what, const char *text, uint64_t minimum, uint64_t maximum) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || value < minimum || value > maximum)
        refuse(EXIT_USAGE, "%s = \"%s\": want a whole number from %llu to %llu", what, text,
               (unsigned long long)minimum, (unsigned long long)maximum);
    return value;
}

/* The study's options may say true and false where a knob is a switch. */
static uint64_t knob_value(const struct knob *knob, const char *text) {
    if (knob->maximum == 1 && !strcasecmp(text, "true"))
        return 1;
    if (knob->maximum == 1 && !strcasecmp(text, "false"))
        return 0;
    return number(knob->name, text, knob->minimum, knob->maximum);
}

static void set_knob(struct knobs *knobs, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    if (!equals)
        refuse(EXIT_USAGE, "--set %s: want KEY=VALUE", assignment);
    size_t length = (size_t)(equals - assignment);
    for (int i = 0; i < KNOB_COUNT; i++) {
        if (strlen(KNOBS[i].name) == length && !strncmp(KNOBS[i].name, assignment, length)) {
            uint64_t value = knob_value(&KNOBS[i], equals + 1);
            memcpy((char *)knobs + KNOBS[i].offset, &value, sizeof value);
            return;
        }
    }
    char known[256] = "";
    for (int i = 0; i < KNOB_COUNT; i++) {
        strcat(known, " ");
        strcat(known, KNOBS[i].name);
    }
    refuse(EXIT_USAGE, "--set %.*s: no such key; there are:%s", (int)length, assignment, known);
}

/* Splits ADDR:PORT or [ADDR]:PORT in place. */
static void set_address(struct options *options, char *text) {
    char *colon = strrchr(text, ':');
    if (!colon || colon == text || !colon[1])
        refuse(EXIT_USAGE, "\"%s\": want ADDR:PORT", text);
    *colon = '\0';
    if (*text == '[' && colon[-1] == ']') {
        text++;
        colon[-1] = '\0';
    }
    options->address = text;
    options->port = colon + 1;
}

/* The only resource is "/N", N bytes. */
static uint64_t path_bytes(const char *path) {
    if (*path != '/' || !path[1] || path[1 + strspn(path + 1, "0123456789")])
        refuse(EXIT_UNSUPPORTED, "--path %s: only /N is served, a body of N bytes", path);
    return number("--path", path + 1, 0, UINT64_MAX);
}

static enum role parse_role(int argc, char **argv) {
    if (argc < 2) {
        fputs(USAGE, stderr);
        exit(EXIT_USAGE);
    }
    if (!strcmp(argv[1], "server"))
        return ROLE_SERVER;
    if (!strcmp(argv[1], "client"))
        return ROLE_CLIENT;
    if (!strcmp(argv[1], "describe"))
        return ROLE_DESCRIBE;
    refuse(EXIT_UNSUPPORTED, "no role \"%s\"; there are: server client describe", argv[1]);
}

static void require(const struct options *options) {
    if (options->role == ROLE_SERVER) {
        if (!options->address || !options->cca)
            refuse(EXIT_USAGE, "a server needs --listen ADDR:PORT and --cca NAME");
        if (options->knobs.tls && (!options->cert || !options->key))
            refuse(EXIT_USAGE, "a TLS server needs --cert FILE and --key FILE");
    } else if (options->role == ROLE_CLIENT && !options->address) {
        refuse(EXIT_USAGE, "a client needs --connect ADDR:PORT");
    }
}

struct options options_parse(int argc, char **argv) {
    enum { LISTEN = 256, CONNECT, CCA, CERT, KEY, ALPN, LOG, SET, NAME, BYTES, STREAMS, PATH, TLS };
    static const struct option LONG[] = {
        {"listen", required_argument, NULL, LISTEN},     {"connect", required_argument, NULL, CONNECT},
        {"cca", required_argument, NULL, CCA},           {"cert", required_argument, NULL, CERT},
        {"key", required_argument, NULL, KEY},           {"alpn", required_argument, NULL, ALPN},
        {"transport-log", required_argument, NULL, LOG}, {"set", required_argument, NULL, SET},
        {"server-name", required_argument, NULL, NAME},  {"bytes", required_argument, NULL, BYTES},
        {"streams", required_argument, NULL, STREAMS},   {"path", required_argument, NULL, PATH},
        {"tls", no_argument, NULL, TLS},                 {NULL, 0, NULL, 0},
    };
    struct options options = {
        .role = parse_role(argc, argv),
        .server_name = "cambrian.test",
        .streams = 1,
        .knobs = {.sndbuf = 64 << 20, .rcvbuf = 8 << 20, .notsent_lowat = 256 << 10, .rcvlowat = 256 << 10},
    };
    int letter;
    while ((letter = getopt_long(argc - 1, argv + 1, "", LONG, NULL)) != -1) {
        switch (letter) {
        case LISTEN:
        case CONNECT:
            set_address(&options, optarg);
            break;
        case CCA: options.cca = optarg; break;
        case CERT: options.cert = optarg; break;
        case KEY: options.key = optarg; break;
        case LOG: options.transport_log = optarg; break;
        case NAME: options.server_name = optarg; break;
        case TLS: options.knobs.tls = 1; break;
        case SET: set_knob(&options.knobs, optarg); break;
        case BYTES: options.bytes = number("--bytes", optarg, 0, UINT64_MAX); break;
        case STREAMS: options.streams = (unsigned)number("--streams", optarg, 1, 1024); break;
        case PATH: options.bytes = path_bytes(optarg); break;
        case ALPN:
            if (strcmp(optarg, "hq-interop"))
                refuse(EXIT_UNSUPPORTED, "no ALPN \"%s\"; there is: hq-interop", optarg);
            break;
        default:
            fputs(USAGE, stderr);
            exit(EXIT_USAGE);
        }
    }
    if (optind != argc - 1)
        refuse(EXIT_USAGE, "unexpected word \"%s\"", argv[optind + 1]);
    if (options.bytes == 0)
        options.bytes = ENDLESS_BYTES;
    require(&options);
    return options;
}
