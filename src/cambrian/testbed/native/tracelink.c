/*
 * A Mahimahi link as a program: the bottleneck of a trial whose rate follows a trace.
 *
 *   tracelink --trace FILE --buffer-bytes N --in-netns PATH --tun-in NAME
 *             --out-netns PATH --tun-out NAME
 *
 * It makes two TUN devices, each in its own network namespace. IP packets routed into the
 * first wait in a drop-tail queue of N bytes (counted as frames, IP + 14) and come out of
 * the second at the trace's delivery opportunities. Addresses, routes and "up" are the
 * caller's. The trace (mm-link(1)): a whole number of milliseconds a line, not decreasing,
 * each one opportunity of 1504 bytes; the last is the length of a round, after which it
 * starts over. An opportunity that finds nothing waiting is lost.
 *
 * The trace starts when the devices are there, and again at SIGUSR1. Prints a ready line,
 * then on SIGTERM a done line with what was counted; `overflowed_packets` are those that
 * the kernel dropped before we could read them, and must be 0. Exit statuses: 0, 1 failed,
 * 2 usage or a bad trace.
 */
#define _GNU_SOURCE
#include "queue.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
	KERNEL_QUEUE_PACKETS = 10000, /* between the first TUN and us; we empty it at once */
	MIN_BUFFER_BYTES = 1500 + FRAME_HEADER_BYTES,
};

struct settings {
	const char *trace, *in_netns, *out_netns, *tun_in, *tun_out;
	uint64_t buffer_bytes;
};

struct trace {
	uint64_t *times_ms; /* since the start of a round */
	size_t count;
};

struct link {
	struct trace trace;
	size_t next;	       /* index of the next opportunity */
	uint64_t round_ns;     /* CLOCK_MONOTONIC at the start of its round */
	struct queue queue;
	int tun_in, tun_out, timer, signals;
	uint64_t armed_ns;     /* what the timer was last set to */
};

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "tracelink: %s: %s\n", what, strerror(errno));
	exit(1);
}

__attribute__((noreturn)) static void bad_trace(const char *path, size_t line, const char *problem)
{
	fprintf(stderr, "tracelink: %s:%zu: %s\n", path, line, problem);
	exit(2);
}

/* One line, its end cut off, to milliseconds; 15 digits always fit. */
static uint64_t parse_time(const char *text, const char *path, size_t line)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 15 || text[digits])
		bad_trace(path, line, "not a time stamp: want one whole number of milliseconds a line");
	return strtoull(text, NULL, 10);
}

static struct trace read_trace(const char *path)
{
	struct trace trace = { 0 };
	size_t capacity = 0, room = 0;
	char *text = NULL;
	FILE *f = fopen(path, "re");
	ssize_t length;

	if (!f)
		die(path);
	while ((length = getline(&text, &room, f)) >= 0) {
		size_t line = trace.count + 1;

		if (memchr(text, '\0', (size_t)length))
			bad_trace(path, line, "not plain text");
		text[strcspn(text, "\r\n")] = '\0';
		if (trace.count == capacity) {
			capacity = capacity ? 2 * capacity : 1024;
			trace.times_ms = realloc(trace.times_ms, capacity * sizeof(*trace.times_ms));
			if (!trace.times_ms)
				die("memory for the trace");
		}
		trace.times_ms[trace.count] = parse_time(text, path, line);
		if (trace.count && trace.times_ms[trace.count] < trace.times_ms[trace.count - 1])
			bad_trace(path, line, "time goes back: sort the time stamps in rising order");
		trace.count++;
	}
	if (ferror(f))
		die(path);
	if (!trace.count)
		bad_trace(path, 1, "the trace is empty: give at least one time stamp above 0");
	if (!trace.times_ms[trace.count - 1])
		bad_trace(path, trace.count, "the trace lasts no time: end with a time stamp above 0");
	free(text);
	fclose(f);
	return trace;
}

static void enter(const char *netns)
{
	int fd = open(netns, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(netns);
	close(fd);
}

static int make_tun(const char *netns, const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd, control;

	enter(netns);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		die("/dev/net/tun");
	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	if (ioctl(fd, TUNSETIFF, &request))
		die(name);
	request.ifr_qlen = KERNEL_QUEUE_PACKETS;
	control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (control < 0 || ioctl(control, SIOCSIFTXQLEN, &request))
		die("setting the TUN device's queue length");
	close(control);
	return fd;
}

/* Packets that the kernel could not hand to us, of an interface here; -1 if it does not say. */
static int64_t transmit_drops(const char *name)
{
	/* name: 8 receive counters, then bytes, packets, errors, drops sent */
	static const char COLUMNS[] = "%*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %" SCNd64;
	FILE *f = fopen("/proc/thread-self/net/dev", "re");
	size_t length = strlen(name);
	int64_t drops = -1;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		const char *start = line + strspn(line, " ");

		if (!strncmp(start, name, length) && start[length] == ':')
			sscanf(start + length + 1, COLUMNS, &drops);
	}
	if (f)
		fclose(f);
	return drops;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t next_opportunity_ns(const struct link *link)
{
	return link->round_ns + link->trace.times_ms[link->next] * 1000000;
}

static void send_out(void *context, const struct packet *packet)
{
	const struct link *link = context;

	if (write(link->tun_out, packet->data, packet->size) < 0)
		die("writing to the second TUN device (is it up?)");
}

/* Spends every opportunity up to now. */
static void advance(struct link *link, uint64_t now)
{
	while (next_opportunity_ns(link) <= now) {
		queue_serve(&link->queue, send_out, link);
		if (++link->next == link->trace.count) {
			link->next = 0;
			link->round_ns += link->trace.times_ms[link->trace.count - 1] * 1000000;
		}
	}
}

/* Sets the timer, which stays readable after it has gone off until set again. */
static void arm(struct link *link)
{
	uint64_t at = next_opportunity_ns(link);
	struct itimerspec when = { .it_value = { .tv_sec = (time_t)(at / 1000000000),
						 .tv_nsec = (long)(at % 1000000000) } };

	if (at != link->armed_ns && timerfd_settime(link->timer, TFD_TIMER_ABSTIME, &when, NULL))
		die("timerfd_settime");
	link->armed_ns = at;
}

static void take_arrivals(struct link *link)
{
	for (;;) {
		struct packet *packet = queue_spare(&link->queue);
		ssize_t size = read(link->tun_in, packet->data, PACKET_MAX_BYTES);

		packet->size = size > 0 ? (size_t)size : 0;
		if (size <= 0) {
			queue_return(&link->queue, packet);
			if (size < 0 && errno != EAGAIN && errno != EINTR)
				die("reading from the first TUN device");
			return;
		}
		queue_push(&link->queue, packet);
	}
}

/* True once SIGTERM or SIGINT has come; SIGUSR1 starts the trace over. */
static bool take_signal(struct link *link, uint64_t now)
{
	struct signalfd_siginfo info;

	if (read(link->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo != SIGUSR1)
		return true;
	link->round_ns = now;
	link->next = 0;
	return false;
}

/*
 * While packets wait, only the next opportunity can change anything but the queue's tail:
 * what arrives meanwhile stays with the kernel until then, and meets the same queue as if
 * it had been taken at once. That spares a wake-up a packet.
 */
static void run(struct link *link)
{
	struct pollfd fds[2] = { { .fd = link->signals, .events = POLLIN }, { .events = POLLIN } };

	link->round_ns = now_ns();
	for (;;) {
		bool waiting = !queue_empty(&link->queue);
		uint64_t now;

		if (waiting)
			arm(link);
		fds[1].fd = waiting ? link->timer : link->tun_in;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			die("poll");
		if (waiting)
			take_arrivals(link);
		now = now_ns();
		advance(link, now);
		if (!waiting)
			take_arrivals(link);
		if ((fds[0].revents & POLLIN) && take_signal(link, now))
			return;
	}
}

static void print_tally(const char *name, const struct tally *tally)
{
	printf(",\"%s_packets\":%" PRIu64 ",\"%s_bytes\":%" PRIu64, name, tally->packets, name, tally->bytes);
}

static void report(const struct link *link, const struct settings *settings)
{
	struct tally queued = link->queue.waiting;
	int64_t overflowed;

	if (link->queue.in_transit) {
		queued.packets++;
		queued.bytes += link->queue.in_transit->size + FRAME_HEADER_BYTES;
	}
	enter(settings->in_netns);
	overflowed = transmit_drops(settings->tun_in);
	fputs("{\"event\":\"done\"", stdout);
	print_tally("arrived", &link->queue.arrived);
	print_tally("delivered", &link->queue.delivered);
	print_tally("dropped", &link->queue.dropped);
	print_tally("queued", &queued);
	if (overflowed < 0)
		puts(",\"overflowed_packets\":null}");
	else
		printf(",\"overflowed_packets\":%" PRId64 "}\n", overflowed);
	fflush(stdout);
}

static struct settings parse(int argc, char **argv)
{
	static const struct option OPTIONS[] = {
		{ "trace", 1, 0, 't' },	    { "buffer-bytes", 1, 0, 'b' }, { "in-netns", 1, 0, 'i' },
		{ "out-netns", 1, 0, 'o' }, { "tun-in", 1, 0, 'I' },	   { "tun-out", 1, 0, 'O' },
		{ 0, 0, 0, 0 },
	};
	struct settings s = { 0 };
	int letter;

	while ((letter = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
		switch (letter) {
		case 't': s.trace = optarg; break;
		case 'b': s.buffer_bytes = strtoull(optarg, NULL, 10); break;
		case 'i': s.in_netns = optarg; break;
		case 'o': s.out_netns = optarg; break;
		case 'I': s.tun_in = optarg; break;
		case 'O': s.tun_out = optarg; break;
		default: exit(2);
		}
	}
	if (!s.trace || !s.in_netns || !s.out_netns || !s.tun_in || !s.tun_out || optind != argc) {
		fputs("usage: tracelink --trace FILE --buffer-bytes N --in-netns PATH --tun-in NAME"
		      " --out-netns PATH --tun-out NAME\n", stderr);
		exit(2);
	}
	if (s.buffer_bytes < MIN_BUFFER_BYTES) {
		fprintf(stderr, "tracelink: --buffer-bytes: want at least %d, one full frame, or none fits\n",
			MIN_BUFFER_BYTES);
		exit(2);
	}
	return s;
}

int main(int argc, char **argv)
{
	struct settings settings = parse(argc, argv);
	struct link link = { .trace = read_trace(settings.trace),
			     .queue = { .limit_bytes = settings.buffer_bytes } };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	link.signals = signalfd(-1, &mask, SFD_CLOEXEC);
	link.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (link.signals < 0 || link.timer < 0)
		die("signal and timer descriptors");
	link.tun_in = make_tun(settings.in_netns, settings.tun_in);
	link.tun_out = make_tun(settings.out_netns, settings.tun_out);
	puts("{\"event\":\"ready\"}");
	fflush(stdout);
	run(&link);
	report(&link, &settings);
	return 0;
}
