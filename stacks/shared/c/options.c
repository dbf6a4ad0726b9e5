#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] =
    "usage: %1$s server --listen ADDR:PORT --cca NAME [--cert FILE --key FILE] [--transport-log FILE]\n"
    "       %1$s client --connect ADDR:PORT [--bytes N] [--streams N] [--server-name NAME]\n"
    "       %1$s describe\n"
    "both sides: [--alpn NAME] [--set KEY=VALUE]...\n";

__attribute__((noreturn)) static void usage(void) {
    fprintf(stderr, USAGE, program_invocation_short_name);
    exit(EXIT_USAGE);
}

void options_refuse(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
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
        options_refuse(EXIT_USAGE, "%s = \"%s\": want a whole number from %llu to %llu", what, text,
                       (unsigned long long)minimum, (unsigned long long)maximum);
    return value;
}

static uint64_t knob_value(const struct knob *knob, const char *text) {
    if (knob->maximum > 1)
        return number(knob->name, text, knob->minimum, knob->maximum);
    if (strcmp(text, "true") && strcmp(text, "false"))
        options_refuse(EXIT_USAGE, "%s = \"%s\": want true or false", knob->name, text);
    return !strcmp(text, "true");
}

static void set_knob(const struct endpoint *endpoint, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    if (!equals)
        options_refuse(EXIT_USAGE, "--set %s: want KEY=VALUE", assignment);
    size_t length = (size_t)(equals - assignment);
    char known[256] = "";
    for (size_t i = 0; i < endpoint->knob_count; i++) {
        const struct knob *knob = &endpoint->knobs[i];
        if (strlen(knob->name) == length && !strncmp(knob->name, assignment, length)) {
            *knob->value = knob_value(knob, equals + 1);
            return;
        }
        strcat(known, " ");
        strcat(known, knob->name);
    }
    options_refuse(EXIT_USAGE, "--set %.*s: no such key; there are:%s", (int)length, assignment, known);
}

/* The list's own copy of name; exits with EXIT_UNSUPPORTED where it has none. */
static const char *one_of(const char *const *list, const char *name, const char *what) {
    char known[256] = "";
    for (; *list; list++) {
        if (!strcmp(*list, name))
            return *list;
        strcat(known, " ");
        strcat(known, *list);
    }
    options_refuse(EXIT_UNSUPPORTED, "%s %s: there are:%s", what, name, known);
}

/* Splits ADDR:PORT or [ADDR]:PORT in place. */
static void set_address(struct options *options, char *text) {
    char *colon = strrchr(text, ':');
    if (!colon || colon == text || !colon[1])
        options_refuse(EXIT_USAGE, "\"%s\": want ADDR:PORT", text);
    *colon = '\0';
    if (*text == '[' && colon[-1] == ']') {
        text++;
        colon[-1] = '\0';
    }
    options->address = text;
    options->port = colon + 1;
}

static enum role parse_role(int argc, char **argv) {
    if (argc < 2)
        usage();
    if (!strcmp(argv[1], "server"))
        return ROLE_SERVER;
    if (!strcmp(argv[1], "client"))
        return ROLE_CLIENT;
    if (!strcmp(argv[1], "describe"))
        return ROLE_DESCRIBE;
    options_refuse(EXIT_UNSUPPORTED, "no role \"%s\"; there are: server client describe", argv[1]);
}

static void require(const struct options *options, const struct endpoint *endpoint) {
    if (options->role == ROLE_SERVER) {
        if (!options->address || !options->cca)
            options_refuse(EXIT_USAGE, "a server needs --listen ADDR:PORT and --cca NAME");
        if (endpoint->certificate && (!options->cert || !options->key))
            options_refuse(EXIT_USAGE, "a server needs --cert FILE and --key FILE");
    } else if (options->role == ROLE_CLIENT && !options->address) {
        options_refuse(EXIT_USAGE, "a client needs --connect ADDR:PORT");
    }
}

struct options options_parse(int argc, char **argv, const struct endpoint *endpoint) {
    enum { LISTEN = 256, CONNECT, CCA, CERT, KEY, ALPN, LOG, SET, NAME, BYTES, STREAMS, PATH, WWW };
    static const struct option LONG[] = {
        {"listen", required_argument, NULL, LISTEN},     {"connect", required_argument, NULL, CONNECT},
        {"cca", required_argument, NULL, CCA},           {"cert", required_argument, NULL, CERT},
        {"key", required_argument, NULL, KEY},           {"alpn", required_argument, NULL, ALPN},
        {"transport-log", required_argument, NULL, LOG}, {"set", required_argument, NULL, SET},
        {"server-name", required_argument, NULL, NAME},  {"bytes", required_argument, NULL, BYTES},
        {"streams", required_argument, NULL, STREAMS},   {"path", required_argument, NULL, PATH},
        {"www", required_argument, NULL, WWW},           {NULL, 0, NULL, 0},
    };
    struct options options = {
        .role = parse_role(argc, argv),
        .alpn = endpoint->alpns[0],
        .server_name = "cambrian.test",
        .streams = 1,
    };
    int letter;
    while ((letter = getopt_long(argc - 1, argv + 1, "", LONG, NULL)) != -1) {
        switch (letter) {
        case LISTEN:
        case CONNECT: set_address(&options, optarg); break;
        case CCA: options.cca = endpoint->ccas ? one_of(endpoint->ccas, optarg, "--cca") : optarg; break;
        case CERT: options.cert = optarg; break;
        case KEY: options.key = optarg; break;
        case LOG: options.transport_log = optarg; break;
        case NAME: options.server_name = optarg; break;
        case WWW:
            if (!endpoint->pages)
                options_refuse(EXIT_UNSUPPORTED, "--www %s: this endpoint serves no pages", optarg);
            options.www = optarg;
            break;
        case SET: set_knob(endpoint, optarg); break;
        case BYTES: options.bytes = number("--bytes", optarg, 0, UINT64_MAX); break;
        case STREAMS: options.streams = (unsigned)number("--streams", optarg, 1, 1024); break;
        case PATH:
            options_refuse(EXIT_USAGE, "--path does not go with hq-interop, which asks for a number of bytes");
        case ALPN: options.alpn = one_of(endpoint->alpns, optarg, "--alpn"); break;
        default: usage();
        }
    }
    if (optind != argc - 1)
        options_refuse(EXIT_USAGE, "unexpected word \"%s\"", argv[optind + 1]);
    if (options.bytes == 0)
        options.bytes = ENDLESS_BYTES;
    require(&options, endpoint);
    return options;
}
