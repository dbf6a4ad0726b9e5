/*
 * The bottleneck's capture: when each packet reached the queue and when it left.
 *
 *   capture --router-ns PATH --receiver-ns PATH --receiver-if NAME --out FILE
 *           [--pcap FILE] [--trace-pipe FILE --trace-out FILE] [--ring-kib N] [--first]
 *
 * Two packet sockets, one in each namespace. A packet received by the router from a
 * sender's link enters the bottleneck's queue in the same instant (forwarding costs no
 * virtual time), so its reception there is its *arrival*; its reception in the receiver's
 * namespace is its *departure*. One without a departure was dropped by the queue.
 *
 * FILE gets 24-byte records (struct record, little endian), in the order in which they
 * were read: arrivals and departures each in order of time. The two are matched offline
 * by `key`, a hash of what forwarding, ECN marking and checksum completion leave alone.
 *
 * With --pcap, both sides' packets of both directions go to FILE.router.pcap and
 * FILE.receiver.pcap, whole, without Ethernet headers. They have sockets of their own, which wake
 * nobody, set no timers and are read when the records are: a wake-up reads the clock, which takes
 * virtual time, and a timer between two events can do so too. A trial has the same packets with
 * --pcap and without.
 * With --trace-pipe, the kernel's binary trace ring is drained to --trace-out, so that a
 * long trial cannot overrun it.
 *
 * With --first, the program runs before all ordinary programs (SCHED_FIFO): in real time a
 * machine may be too slow for all of them, and the records are what the others are judged by.
 *
 * Prints {"event":"ready"} once the taps are live; SIGTERM flushes and prints a last line
 * with what was seen and what the kernel's rings lost (which must be 0).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum kind { ARRIVAL = 0, DEPARTURE = 1, SIDES = 2 };

struct record {
	uint64_t time_ns; /* CLOCK_REALTIME of the guest */
	uint64_t key;
	uint32_t source; /* sender's IPv4 address, host order */
	uint16_t size;	 /* frame: IP packet + Ethernet header */
	uint8_t kind;
	uint8_t ecn; /* the two ECN bits */
};

_Static_assert(sizeof(struct record) == 24, "the reader expects 24-byte records");

enum {
	SNAP_BYTES = 112,	 /* enough of a packet to tell it from any other */
	BLOCK_BYTES = 64 * 1024, /* one hand-over from the kernel */
	WHOLE_BYTES = 65535,	 /* of a packet, with --pcap */
	WHOLE_RINGS = 8,	 /* rings of records in one of whole packets: 112 bytes to 1514 */
	BLOCK_TIMEOUT_MS = 200,	 /* a part-filled block is handed over after this long */
	NEVER_MS = 24 * 3600 * 1000, /* a part-filled block of whole packets waits for the end */
	DRAIN_INTERVAL_MS = 20,	 /* at the end, when nothing wakes us */
	LAST_BLOCKS_MS = 2 * BLOCK_TIMEOUT_MS + DRAIN_INTERVAL_MS / 2, /* every block has come by then */
	TRACE_PAGE_BYTES = 4096,
	WRITE_BYTES = 64 * 1024, /* records in one write */
};

struct tap {
	int fd;
	uint8_t *ring;
	unsigned int blocks, next;
	enum kind kind;
	uint64_t seen, lost;
	uint64_t last_ns; /* of the packet that was taken last */
	FILE *pcap;
};

static void die(const char *what)
{
	fprintf(stderr, "capture: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t hash_bytes(uint64_t h, const uint8_t *p, size_t n)
{
	/* FNV-1a, 64 bit */
	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3ULL;
	return h;
}

/*
 * What stays the same from the router's door to the receiver's: the IP identification,
 * the addresses and the transport header and payload without the transport's checksum
 * (a TUN device completes it). TTL, ECN bits and the IP checksum change on the way.
 */
static uint64_t packet_key(const uint8_t *ip, size_t have)
{
	size_t header = (size_t)(ip[0] & 15) * 4;
	size_t checksum = header + (ip[9] == IPPROTO_TCP ? 16 : 6);
	uint64_t h = 0xcbf29ce484222325ULL;

	h = hash_bytes(h, ip + 2, 4);
	h = hash_bytes(h, ip + 9, 1);
	h = hash_bytes(h, ip + 12, 8);
	if (have < checksum + 2)
		return have > header ? hash_bytes(h, ip + header, have - header) : h;
	h = hash_bytes(h, ip + header, checksum - header);
	return hash_bytes(h, ip + checksum + 2, have - checksum - 2);
}

/*
 * Accept IPv4 packets received (not sent) here whose destination is in 10.9.0.0/16. The
 * address is found from the network header, as a TUN device has no Ethernet one. With `whole`,
 * also those whose source is there: received by the router, or sent by the receivers' host.
 */
static void attach_filter(int fd, enum kind kind, int whole)
{
	unsigned int snap = whole ? WHOLE_BYTES : ETH_HLEN + SNAP_BYTES;
	int sent = whole && kind == DEPARTURE;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, SKF_AD_OFF + SKF_AD_PROTOCOL),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 7),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, sent ? 0 : 5, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, SKF_NET_OFF + 16),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0a09, 2, whole ? 0 : 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, SKF_NET_OFF + 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0a09, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, snap),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)))
		die("SO_ATTACH_FILTER");
}

static void enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

static void open_tap(struct tap *tap, const char *netns, const char *ifname, enum kind kind,
		     unsigned int ring_kib, int whole)
{
	int version = TPACKET_V3, one = 1;
	struct tpacket_req3 req = { .tp_block_size = BLOCK_BYTES,
				    .tp_frame_size = 2048,
				    .tp_retire_blk_tov = whole ? NEVER_MS : BLOCK_TIMEOUT_MS };
	struct sockaddr_ll where = { .sll_family = AF_PACKET };

	enter(netns);
	/* protocol 0: nothing is received before the filter and the ring are in place */
	tap->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (tap->fd < 0)
		die("packet socket");
	tap->kind = kind;
	tap->blocks = ring_kib * 1024 / BLOCK_BYTES;
	req.tp_block_nr = tap->blocks;
	req.tp_frame_nr = tap->blocks * (BLOCK_BYTES / req.tp_frame_size);
	attach_filter(tap->fd, kind, whole);
	if (setsockopt(tap->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(tap->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
		die("packet ring");
	/* optional (Linux 4.20): spares a look at each packet sent; the filter rejects them anyway */
	if (!whole || kind == ARRIVAL)
		(void)setsockopt(tap->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	tap->ring = mmap(NULL, (size_t)tap->blocks * BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			 tap->fd, 0);
	if (tap->ring == MAP_FAILED)
		die("map packet ring");
	/* only a socket for all protocols gets what its host sends */
	where.sll_protocol = htons(whole && kind == DEPARTURE ? ETH_P_ALL : ETH_P_IP);
	if (ifname && !(where.sll_ifindex = (int)if_nametoindex(ifname)))
		die(ifname);
	if (bind(tap->fd, (struct sockaddr *)&where, sizeof(where)))
		die("bind packet socket");
}

static FILE *open_out(const char *path)
{
	FILE *f = fopen(path, "we");
	/* without a buffer of ours glibc keeps the file system's block: 1 KiB here */
	char *buffer = malloc(WRITE_BYTES);

	if (!f || !buffer)
		die(path);
	setvbuf(f, buffer, _IOFBF, WRITE_BYTES);
	return f;
}

static FILE *open_pcap(const char *prefix, const char *side)
{
	/* pcap with nanosecond stamps, version 2.4, link type raw IP: a TUN device has no Ethernet */
	const uint32_t head[6] = { 0xa1b23c4d, 0x00040002, 0, 0, WHOLE_BYTES, 101 };
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%s.pcap", prefix, side);
	f = open_out(path);
	fwrite(head, sizeof(head), 1, f);
	return f;
}

static void take_packet(struct tap *tap, const struct tpacket3_hdr *h, FILE *out)
{
	const uint8_t *ip = (const uint8_t *)h + h->tp_net;
	size_t have = h->tp_snaplen - (size_t)(h->tp_net - h->tp_mac);
	/* a TUN device has no Ethernet header; the queue counts one all the same */
	size_t size = h->tp_len - (size_t)(h->tp_net - h->tp_mac) + ETH_HLEN;
	struct record r = { .time_ns = (uint64_t)h->tp_sec * 1000000000ULL + h->tp_nsec,
			    .kind = (uint8_t)tap->kind };

	if (have > SNAP_BYTES)
		have = SNAP_BYTES;
	if (have < 20 || (ip[0] >> 4) != 4)
		return;
	r.key = packet_key(ip, have);
	r.source = (uint32_t)ip[12] << 24 | (uint32_t)ip[13] << 16 | (uint32_t)ip[14] << 8 | ip[15];
	r.size = size > UINT16_MAX ? UINT16_MAX : (uint16_t)size;
	r.ecn = ip[1] & 3;
	if (fwrite(&r, sizeof(r), 1, out) != 1)
		die("write records");
	tap->seen++;
	tap->last_ns = r.time_ns;
}

static void keep_whole(const struct tap *tap, const struct tpacket3_hdr *h)
{
	uint32_t link = (uint32_t)(h->tp_net - h->tp_mac);
	const uint32_t head[4] = { h->tp_sec, h->tp_nsec, h->tp_snaplen - link, h->tp_len - link };

	if (fwrite(head, sizeof(head), 1, tap->pcap) != 1 ||
	    fwrite((const uint8_t *)h + h->tp_net, h->tp_snaplen - link, 1, tap->pcap) != 1)
		die("write packets");
}

static struct tpacket_hdr_v1 *next_block(const struct tap *tap)
{
	return &((struct tpacket_block_desc *)(tap->ring + (size_t)tap->next * BLOCK_BYTES))->hdr.bh1;
}

static void take_block(struct tap *tap, FILE *out)
{
	const struct tpacket_hdr_v1 *head = next_block(tap);
	const uint8_t *p = tap->ring + (size_t)tap->next * BLOCK_BYTES + head->offset_to_first_pkt;

	for (uint32_t i = 0; i < head->num_pkts; i++) {
		const struct tpacket3_hdr *h = (const struct tpacket3_hdr *)p;

		if (tap->pcap)
			keep_whole(tap, h);
		else
			take_packet(tap, h, out);
		p += h->tp_next_offset;
	}
}

static void drain_tap(struct tap *tap, FILE *out)
{
	for (;;) {
		struct tpacket_hdr_v1 *head = next_block(tap);

		if (!(__atomic_load_n(&head->block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			return;
		take_block(tap, out);
		__atomic_store_n(&head->block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		tap->next = (tap->next + 1) % tap->blocks;
	}
}

static void drain_taps(struct tap *taps, int count, FILE *out)
{
	for (int i = 0; i < count; i++)
		drain_tap(&taps[i], out);
}

static void count_lost(struct tap *tap)
{
	struct tpacket_stats_v3 stats;
	socklen_t n = sizeof(stats);

	if (!getsockopt(tap->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &n))
		tap->lost += stats.tp_drops;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Part-filled blocks come to us when their timer fires, each tap's in its own time; meanwhile the
 * flows go on. So departures end first, and arrivals when they have come further: each packet that
 * was seen to leave was seen to arrive. An idle link has no such arrival, but its blocks have come.
 */
static void drain_the_rest(struct tap *taps, int count, FILE *out)
{
	int64_t began_ms = now_ms();

	do {
		usleep(DRAIN_INTERVAL_MS * 1000);
		drain_taps(taps, count, out);
	} while (now_ms() - began_ms < LAST_BLOCKS_MS);
	began_ms = now_ms();
	while (taps[ARRIVAL].last_ns <= taps[DEPARTURE].last_ns && now_ms() - began_ms < LAST_BLOCKS_MS) {
		usleep(DRAIN_INTERVAL_MS * 1000);
		drain_tap(&taps[ARRIVAL], out);
	}
}

/* The block that the kernel still fills, and no timer hands over. Nothing is added from now on. */
static void drain_open_block(struct tap *tap, FILE *out)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, 0) };
	struct sock_fprog nothing = { 1, code };

	if (setsockopt(tap->fd, SOL_SOCKET, SO_ATTACH_FILTER, &nothing, sizeof(nothing)))
		die("SO_ATTACH_FILTER");
	drain_tap(tap, out);
	take_block(tap, out);
}

static void go_first(void)
{
	const struct sched_param lowest = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &lowest))
		die("SCHED_FIFO");
}

static void drain_trace(int pipe_fd, FILE *out)
{
	static uint8_t page[TRACE_PAGE_BYTES];
	ssize_t n;

	while ((n = read(pipe_fd, page, sizeof(page))) > 0)
		if (fwrite(page, sizeof(page), 1, out) != 1)
			die("write trace");
}

int main(int argc, char **argv)
{
	const char *router = NULL, *receiver = NULL, *receiver_if = NULL, *out_path = NULL;
	const char *pcap = NULL, *trace_pipe = NULL, *trace_out = NULL;
	unsigned int ring_kib = 256;
	static const struct option options[] = {
		{ "router-ns", 1, 0, 'r' }, { "receiver-ns", 1, 0, 'c' }, { "receiver-if", 1, 0, 'i' },
		{ "out", 1, 0, 'o' },	    { "pcap", 1, 0, 'p' },	  { "trace-pipe", 1, 0, 't' },
		{ "trace-out", 1, 0, 'u' }, { "ring-kib", 1, 0, 'k' },	  { "first", 0, 0, 'f' },
		{ 0, 0, 0, 0 },
	};
	struct tap taps[2 * SIDES] = { 0 }; /* of records, then of whole packets */
	uint64_t lost = 0;
	int count;
	struct pollfd fds[3];
	FILE *out, *trace = NULL;
	int opt, trace_fd = -1;
	sigset_t mask;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'r': router = optarg; break;
		case 'c': receiver = optarg; break;
		case 'i': receiver_if = optarg; break;
		case 'o': out_path = optarg; break;
		case 'p': pcap = optarg; break;
		case 't': trace_pipe = optarg; break;
		case 'u': trace_out = optarg; break;
		case 'k': ring_kib = (unsigned int)atoi(optarg); break;
		case 'f': go_first(); break;
		default: return 2;
		}
	}
	if (!router || !receiver || !receiver_if || !out_path || !trace_pipe != !trace_out ||
	    ring_kib * 1024 < 2 * BLOCK_BYTES) {
		fprintf(stderr, "capture: --router-ns, --receiver-ns, --receiver-if and --out are needed\n");
		return 2;
	}

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);

	out = open_out(out_path);
	if (trace_pipe) {
		trace_fd = open(trace_pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (trace_fd < 0)
			die(trace_pipe);
		trace = open_out(trace_out);
	}
	count = pcap ? 2 * SIDES : SIDES;
	for (int i = 0; i < count; i += SIDES) {
		unsigned int kib = i ? ring_kib * WHOLE_RINGS : ring_kib;

		open_tap(&taps[i + ARRIVAL], router, NULL, ARRIVAL, kib, i > 0);
		/* behind a trace-driven link the receivers' host sends by another device than it receives */
		open_tap(&taps[i + DEPARTURE], receiver, i ? NULL : receiver_if, DEPARTURE, kib, i > 0);
	}
	if (pcap) {
		taps[SIDES + ARRIVAL].pcap = open_pcap(pcap, "router");
		taps[SIDES + DEPARTURE].pcap = open_pcap(pcap, "receiver");
	}
	fds[0] = (struct pollfd){ .fd = taps[0].fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = taps[1].fd, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = signalfd(-1, &mask, SFD_CLOEXEC), .events = POLLIN };
	puts("{\"event\":\"ready\"}");
	fflush(stdout);

	while (!(fds[2].revents & POLLIN)) {
		if (poll(fds, 3, 1000) < 0 && errno != EINTR)
			die("poll");
		drain_taps(taps, count, out);
		if (trace)
			drain_trace(trace_fd, trace);
	}
	drain_the_rest(taps, count, out);
	for (int i = 0; i < count; i++) {
		count_lost(&taps[i]);
		lost += taps[i].lost;
		if (!taps[i].pcap)
			continue;
		drain_open_block(&taps[i], out);
		if (fclose(taps[i].pcap))
			die("close packets");
	}
	if (trace) {
		drain_trace(trace_fd, trace);
		fclose(trace);
	}
	if (fclose(out))
		die("close records");
	printf("{\"event\":\"done\",\"arrivals\":%llu,\"departures\":%llu,\"lost\":%llu}\n",
	       (unsigned long long)taps[ARRIVAL].seen, (unsigned long long)taps[DEPARTURE].seen,
	       (unsigned long long)lost);
	return 0;
}
