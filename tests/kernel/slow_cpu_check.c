/*
 * Puts children on slow processors (/proc/thread-self/slow_cpu) and sees what their work
 * takes them, and that it takes nobody else anything.
 *
 * Times are CLOCK_MONOTONIC in inf-cpu time travel, where work takes no time but a clock
 * read's 256 ns and a failed system call's microsecond. The kernel lets a task run up to
 * 20 µs ahead of its processor, so no sum of costs is expected any closer than that.
 *
 *   cc -O2 -pthread -o slow_cpu_check slow_cpu_check.c
 *   slow_cpu_check
 *
 * Prints one line a check, with what was measured. Exit status: 0, or 1 if something
 * misbehaved (what on standard error).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define US 1000LL
#define MS 1000000LL
#define AHEAD (20 * US)
#define CALLS 500
#define PACKETS 100
#define KNOB "/proc/thread-self/slow_cpu"

static int failed;
/* shared with all children: what they measured */
static long long *told;

static void expect(const char *what, int holds, long long measured)
{
	printf("%s: %lld\n", what, measured);
	if (!holds) {
		failed = 1;
		fprintf(stderr, "%s: %lld is not as it should be\n", what, measured);
	}
}

static void must(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		exit(1);
	}
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

/* 0, or the error that the kernel answers with */
static int children_cost(const char *text)
{
	int fd = open(KNOB, O_WRONLY), result;

	must(fd >= 0, KNOB);
	result = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return result;
}

static long long shown(const char *name)
{
	char text[256] = "", *at;
	int fd = open(KNOB, O_RDONLY);

	must(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, "reading " KNOB);
	close(fd);
	at = strstr(text, name);
	must(at != NULL, name);
	return atoll(at + strlen(name));
}

static void call(int times)
{
	while (times--)
		syscall(SYS_getppid);
}

/* Run in a new process; what it returns is told at @slot */
static pid_t start(int slot, long long (*work)(void))
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (!pid) {
		told[slot] = work();
		_exit(0);
	}
	return pid;
}

static void join(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0) == pid && status == 0, "a child's end");
}

static long long run(long long (*work)(void))
{
	join(start(0, work));
	return told[0];
}

static int about(long long measured, long long expected)
{
	return llabs(measured - expected) <= AHEAD + 10 * US;
}

static long long calls_take(void)
{
	long long began = now();

	call(CALLS);
	return now() - began;
}

static long long knob_shows(void)
{
	return shown("syscall_ns") * 1000000 + shown("packet_ns");
}

static long long busy_grows(void)
{
	long long before = shown("busy_ns");

	call(CALLS);
	return shown("busy_ns") - before;
}

static void *thread(void *unused)
{
	call(CALLS);
	return unused;
}

static long long threads_take(void)
{
	pthread_t other;
	long long began = now();

	pthread_create(&other, NULL, thread, NULL);
	call(CALLS);
	pthread_join(other, NULL);
	return now() - began;
}

static long long grandchild_takes(void)
{
	join(start(1, calls_take));
	return told[1];
}

static long long sleeper(void)
{
	call(1);
	return 0;
}

static void costs(void)
{
	long long began, span;
	pid_t one, two;

	span = calls_take();
	expect("calls on a fast processor take, ns", span < 10 * US, span);
	expect("refused: nonsense", children_cost("fast please") == EINVAL, EINVAL);
	expect("refused: a third number", children_cost("1 2 3") == EINVAL, EINVAL);

	must(children_cost("10000 70\n") == 0, "setting costs");
	expect("the parent's own costs", knob_shows() == 0, knob_shows());
	span = run(knob_shows);
	expect("its child's costs", span == 10000000070, span);
	span = run(calls_take);
	expect("calls at 10 us take, ns", about(span, CALLS * 10 * US), span);
	/* reading and opening the file are calls too */
	span = run(busy_grows);
	expect("the processor's work, ns", span >= CALLS * 10 * US && span < (CALLS + 10) * 10 * US, span);
	span = run(threads_take);
	/* a new thread has calls of its own to make */
	expect("two threads take twice that, ns",
	       span >= 2 * CALLS * 10 * US - AHEAD && span < (2 * CALLS + 20) * 10 * US, span);
	span = run(grandchild_takes);
	expect("a grandchild takes as long, ns", about(span, CALLS * 10 * US), span);

	began = now();
	one = start(1, calls_take);
	two = start(2, calls_take);
	span = calls_take();
	expect("meanwhile the parent's calls take, ns", span < 10 * US, span);
	join(one);
	join(two);
	span = now() - began;
	expect("two processes share one processor, ns", about(span, 2 * CALLS * 10 * US), span);

	must(children_cost("1000000000 0") == 0, "setting costs");
	began = now();
	one = start(1, sleeper);
	usleep(1000);
	kill(one, SIGKILL);
	waitpid(one, NULL, 0);
	span = now() - began;
	expect("SIGKILL ends a wait of 1 s after, ns", span < 2 * MS, span);
	must(children_cost("0 0") == 0, "setting costs");
	span = run(calls_take);
	expect("fast again, ns", span < 10 * US, span);
}

static int udp[2], tcp[2];

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	must(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0, "lo up");
	close(fd);
}

/* Two sockets, connected over the loopback by small segments; [0] reads what is written to [1] */
static void connected(int pair[2], int type)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(to);
	int mss = 1000, end;

	for (end = 0; end < 2; end++) {
		pair[end] = socket(AF_INET, type, 0);
		if (type == SOCK_STREAM)
			setsockopt(pair[end], IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss));
	}
	must(bind(pair[0], (void *)&to, sizeof(to)) == 0, "bind");
	must(type == SOCK_DGRAM || listen(pair[0], 1) == 0, "listen");
	must(getsockname(pair[0], (void *)&to, &length) == 0, "getsockname");
	must(connect(pair[1], (void *)&to, sizeof(to)) == 0, "connect");
	if (type == SOCK_STREAM) {
		int listener = pair[0];

		pair[0] = accept(listener, NULL, NULL);
		close(listener);
	}
	must(pair[0] >= 0, "a pair of sockets");
}

static long long datagrams_take(void)
{
	char buffer[100];
	long long began = now();
	int i;

	for (i = 0; i < PACKETS; i++)
		must(recv(udp[0], buffer, sizeof(buffer), 0) == 50, "recv");
	return now() - began;
}

static long long peeks_take(void)
{
	char buffer[100];
	long long began = now();
	int i;

	for (i = 0; i < PACKETS; i++)
		must(recv(udp[0], buffer, sizeof(buffer), MSG_PEEK) == 50, "peek");
	return now() - began;
}

static long long batch_takes(void)
{
	static char buffer[PACKETS][100];
	struct iovec io[PACKETS];
	struct mmsghdr message[PACKETS] = {};
	long long began = now();
	int i;

	for (i = 0; i < PACKETS; i++) {
		io[i] = (struct iovec){ buffer[i], sizeof(buffer[i]) };
		message[i].msg_hdr.msg_iov = &io[i];
		message[i].msg_hdr.msg_iovlen = 1;
	}
	must(recvmmsg(udp[0], message, PACKETS, 0, NULL) == PACKETS, "recvmmsg");
	return now() - began;
}

static void send_datagrams(void)
{
	int i;

	for (i = 0; i < PACKETS; i++)
		must(send(udp[1], "12345678901234567890123456789012345678901234567890", 50, 0) == 50, "send");
}

#define STREAM 100000

static long long stream_takes(void)
{
	static char buffer[700];
	long long began = now();
	int left = STREAM;

	while (left > 0) {
		int got = recv(tcp[0], buffer, sizeof(buffer), 0);

		must(got > 0, "recv");
		left -= got;
	}
	return now() - began;
}

static void packets(void)
{
	static char stream[STREAM];
	struct tcp_info info;
	socklen_t length = sizeof(info);
	long long span;

	connected(udp, SOCK_DGRAM);
	must(children_cost("0 60000") == 0, "setting costs");
	send_datagrams();
	span = run(peeks_take);
	expect("peeks take, ns", span < 10 * US, span);
	span = run(datagrams_take);
	expect("datagrams at 60 us take, ns", about(span, PACKETS * 60 * US), span);
	send_datagrams();
	span = run(batch_takes);
	expect("a batch of them takes, ns", about(span, PACKETS * 60 * US), span);

	connected(tcp, SOCK_STREAM);
	must(write(tcp[1], stream, STREAM) == STREAM, "write");
	span = run(stream_takes);
	must(getsockopt(tcp[0], IPPROTO_TCP, TCP_INFO, &info, &length) == 0, "TCP_INFO");
	expect("a segment, bytes", info.tcpi_rcv_mss > 900 && info.tcpi_rcv_mss <= 1000, info.tcpi_rcv_mss);
	expect("segments at 60 us take, ns", about(span, 60 * US * STREAM / info.tcpi_rcv_mss), span);
	must(children_cost("0 0") == 0, "setting costs");
}

static int ping[2], pong[2];

/* 100 exchanges with an echo over the loopback, a millisecond apart */
static long long bystander(void)
{
	const struct timespec pause = { .tv_nsec = MS };
	char byte = 0;
	long long began;
	int i;

	/* or else any other timer's interrupt may end a pause 50 us earlier */
	must(prctl(PR_SET_TIMERSLACK, 1) == 0, "PR_SET_TIMERSLACK");
	began = now();
	for (i = 0; i < 100; i++) {
		nanosleep(&pause, NULL);
		must(send(ping[1], &byte, 1, 0) == 1 && recv(pong[0], &byte, 1, 0) == 1, "exchange");
	}
	return now() - began;
}

static long long echo(void)
{
	char byte;
	int i;

	for (i = 0; i < 100; i++)
		must(recv(ping[0], &byte, 1, 0) == 1 && send(pong[1], &byte, 1, 0) == 1, "echo");
	return 0;
}

/* Half a second of work, if a call takes 100 µs */
static long long busy(void)
{
	call(5000);
	return 0;
}

static long long exchange_beside(const char *cost)
{
	pid_t worker, echoing;
	long long span;

	must(children_cost(cost) == 0, "setting costs");
	worker = start(1, busy);
	must(children_cost("0 0") == 0, "setting costs");
	echoing = start(2, echo);
	span = run(bystander);
	join(echoing);
	join(worker);
	return span;
}

static void isolation(void)
{
	long long beside_fast, beside_slow;

	connected(ping, SOCK_DGRAM);
	connected(pong, SOCK_DGRAM);
	beside_fast = exchange_beside("0 0");
	beside_slow = exchange_beside("100000 0");
	expect("exchanges beside an idle processor, ns", beside_fast >= 100 * MS, beside_fast);
	/* a timer's time is rounded to 256 ns, and which way may depend on other timers */
	expect("beside a busy one, ns", llabs(beside_slow - beside_fast) < 10 * US, beside_slow);
}

int main(void)
{
	told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(told != MAP_FAILED, "mmap");
	setvbuf(stdout, NULL, _IOLBF, 0);
	loopback_up();
	costs();
	packets();
	isolation();
	return failed;
}
