/*
 * Reads clocks in many ways, from threads and processes, and prints every value.
 *
 * In virtual time the output is a pure function of the kernel, so two boots that
 * differ only in cambrian.vdso_clock= must print the same bytes. Independently of
 * that, each actor checks that its clocks never run backwards and agree with each
 * other. Actors write into shared memory and the parent prints at the end, actor by
 * actor: the order of the output does not depend on the scheduling that it shows.
 *
 *   cc -O2 -pthread -o clock_check clock_check.c
 *   clock_check [--set-clock]
 *
 * --set-clock also steps CLOCK_REALTIME and slews the clocks by adjtimex(): for
 * guests only, as root.
 *
 * Exit status: 0, or 1 if a clock misbehaved (what and where on standard error).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000LL
#define PROCESSES 3
#define LOG_LINES 16000

struct log {
	const char *name;
	int lines, failed;
	struct line {
		const char *what;
		long long value;
	} line[LOG_LINES];
};

static const struct {
	clockid_t id;
	const char *name;
} clocks[] = {
	{ CLOCK_REALTIME, "real" },
	{ CLOCK_MONOTONIC, "mono" },
	{ CLOCK_BOOTTIME, "boot" },
	{ CLOCK_MONOTONIC_RAW, "raw" },
	{ CLOCK_REALTIME_COARSE, "real_coarse" },
	{ CLOCK_MONOTONIC_COARSE, "mono_coarse" },
	{ CLOCK_THREAD_CPUTIME_ID, "thread" },
};
#define CLOCKS ((int)(sizeof(clocks) / sizeof(clocks[0])))

static void put(struct log *log, const char *what, long long value)
{
	if (log->lines < LOG_LINES)
		log->line[log->lines++] = (struct line){ what, value };
	else if (!log->failed++)
		fprintf(stderr, "%s: log is full\n", log->name);
}

static void expect(struct log *log, int holds, const char *what)
{
	if (holds)
		return;
	if (!log->failed++)
		fprintf(stderr, "%s, line %d: %s\n", log->name, log->lines, what);
}

static long long read_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts))
		return -errno;
	return ts.tv_sec * NS + ts.tv_nsec;
}

static long long put_clock(struct log *log, int i)
{
	long long ns = read_ns(clocks[i].id);

	put(log, clocks[i].name, ns);
	return ns;
}

/*
 * In virtual time this is the scheduler's clock, which moves by a jiffy at a tick and
 * whenever a program has entered the kernel some thousand times.
 */
static void put_cpu_time(struct log *log)
{
	put(log, "cpu", read_ns(CLOCK_THREAD_CPUTIME_ID));
}

/* Every clock in turn, the two old calls too, often enough to cross many ticks. */
static void *rotate(void *arg)
{
	struct log *log = arg;
	long long last[CLOCKS] = { 0 }, now[CLOCKS];

	for (int round = 0; round < 1000; round++) {
		struct timeval tv;

		for (int i = 0; i < CLOCKS; i++) {
			now[i] = put_clock(log, i);
			if (i < 2)
				expect(log, now[i] >= last[i + 4],
				       "a coarse clock was ahead of the fine one");
			expect(log, now[i] >= last[i], "a clock ran backwards");
			last[i] = now[i];
		}
		if (round % 50 == 0)
			put_cpu_time(log);
		gettimeofday(&tv, NULL);
		put(log, "gettimeofday", tv.tv_sec * 1000000LL + tv.tv_usec);
		put(log, "time", time(NULL));
		expect(log, tv.tv_sec * NS + tv.tv_usec * 1000LL + 1000 > now[0],
		       "gettimeofday is behind CLOCK_REALTIME");
	}
	return NULL;
}

/* Read the clock until a deadline, as an event loop with a short timeout may do. */
static void *spin(void *arg)
{
	struct log *log = arg;

	for (int round = 1; round <= 40; round++) {
		long long start = read_ns(CLOCK_MONOTONIC), now = start;
		long reads = 0;

		while (now < start + round * 37000LL) {
			long long next = read_ns(CLOCK_MONOTONIC);

			expect(log, next > now, "CLOCK_MONOTONIC stood still");
			now = next;
			reads++;
		}
		put(log, "spin_end", now);
		put(log, "spin_reads", reads);
		expect(log, reads > 0, "no read fitted into the interval");
	}
	return NULL;
}

/* Sleep by each call that can, around jiffy boundaries and far from them. */
static void *sleeper(void *arg)
{
	static const long naps_ns[] = { 1, 500, 49999, 50000, 999999, 1000000,
					1000001, 2718281, 11000000 };
	struct log *log = arg;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	for (int i = 0; i < 63; i++) {
		long nap_ns = naps_ns[i % 9];
		struct timespec nap = { 0, nap_ns };
		struct itimerspec once = { .it_value = nap };
		long long before = put_clock(log, 1), after, least_ns = nap_ns;
		struct pollfd pfd = { fd, POLLIN, 0 };
		unsigned long long fired;

		switch (i % 4) {
		case 0:
			nanosleep(&nap, NULL);
			break;
		case 1:
			ppoll(NULL, 0, &nap, NULL);
			break;
		case 2:
			poll(NULL, 0, nap_ns / 1000000);
			least_ns = nap_ns / 1000000 * 1000000;
			break;
		case 3:
			timerfd_settime(fd, 0, &once, NULL);
			poll(&pfd, 1, -1);
			if (read(fd, &fired, sizeof(fired)) != sizeof(fired))
				fired = 0;
			expect(log, fired == 1, "the timerfd did not fire once");
			break;
		}
		after = put_clock(log, 1);
		put_clock(log, 0);
		expect(log, after - before >= least_ns, "woke up too early");
	}
	close(fd);
	return NULL;
}

/* Two threads hand the turn to each other; the clock has to agree on the order. */
struct pair {
	struct log *log;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	int turn;
	long long last;
};

static void *player(void *arg)
{
	struct pair *pair = arg;

	pthread_mutex_lock(&pair->lock);
	for (int round = 0; round < 250; round++) {
		int mine = pair->turn;
		long long now;

		now = put_clock(pair->log, round % 3);
		if (round % 3 == 1) {
			expect(pair->log, now > pair->last, "time ran against the turns");
			pair->last = now;
		}
		pair->turn++;
		pthread_cond_signal(&pair->turned);
		while (pair->turn == mine + 1 && round < 249)
			pthread_cond_wait(&pair->turned, &pair->lock);
	}
	pair->turn += 1000;
	pthread_cond_signal(&pair->turned);
	pthread_mutex_unlock(&pair->lock);
	return NULL;
}

/* A timer's signal handler reads the clock in the middle of clock reads. */
static struct log *signal_log;
static volatile sig_atomic_t ticks;

static void on_alarm(int signal_number)
{
	(void)signal_number;
	ticks++;
	put_clock(signal_log, 1);
	put_clock(signal_log, 0);
}

static void interrupted(struct log *log)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 700 }, { 0, 700 } }, never = { { 0, 0 }, { 0, 0 } };
	long long last = 0, now;
	long reads = 0;

	signal_log = log;
	ticks = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (; ticks < 25; reads++) {
		now = read_ns(CLOCK_MONOTONIC);
		expect(log, now > last, "CLOCK_MONOTONIC ran backwards around a signal");
		last = now;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	put(log, "interrupted_reads", reads);
	put_clock(log, 1);
}

/* Long runs of reads that do not move time, and of some that do: what else do they move? */
static void uncharged(struct log *log)
{
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 9001; i++) {
			time(NULL);
			if (round > 0)
				read_ns(CLOCK_MONOTONIC_COARSE);
			if (round > 1)
				read_ns(CLOCK_MONOTONIC_RAW);
		}
		put_cpu_time(log);
		put_clock(log, 1);
	}
}

/*
 * Reads of the processor time alone, and among reads that move time: each step that the
 * scheduler's clock makes, and after how many reads.
 */
static void charged(struct log *log)
{
	for (int round = 0; round < 2; round++) {
		long long last = read_ns(CLOCK_THREAD_CPUTIME_ID), now;

		for (int reads = 1; reads <= 45000; reads++) {
			if (round)
				read_ns(reads % 3 ? CLOCK_MONOTONIC : CLOCK_REALTIME_COARSE);
			now = read_ns(CLOCK_THREAD_CPUTIME_ID);
			if (now == last)
				continue;
			expect(log, now > last, "a thread's processor time ran backwards");
			put(log, "charged_after", reads);
			put(log, "charged", now);
			last = now;
		}
		put_clock(log, 1);
	}
}

/* Results into pages that are not there, not writable or not mapped; odd clocks. */
static void odd_arguments(struct log *log)
{
	static const clockid_t odd[] = { CLOCK_TAI, 10, 11, 12, 15, 16, 31, 32, 33, 1000, -1, -1000 };
	long page = sysconf(_SC_PAGESIZE);
	char *fresh = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec *at[] = {
		(void *)fresh, (void *)(fresh + 2 * page - 8),	/* across two pages */
		(void *)(fresh + 3 * page), (void *)8,
	};
	struct timezone zone = { -1, -1 };
	struct timeval tv;

	mprotect(fresh + 3 * page, page, PROT_READ);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < CLOCKS; j++) {
				int failed = clock_gettime(clocks[j].id, at[i]);

				put(log, "odd_page", failed ? -errno : at[i]->tv_sec * NS + at[i]->tv_nsec);
				expect(log, !failed == (i < 2), "EFAULT where it should not be, or not where it should");
			}
	put(log, "gettimeofday_efault", gettimeofday((void *)at[2], NULL) ? -errno : 0);
	put(log, "gettimeofday_zone", gettimeofday(&tv, &zone) ? -errno : zone.tz_minuteswest);
	put(log, "gettimeofday_zone_us", tv.tv_sec * 1000000LL + tv.tv_usec);
	put(log, "time_pointer", time((time_t *)fresh) - *(time_t *)fresh);
	for (unsigned int i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		put(log, "odd_clock", read_ns(odd[i]));
	put_clock(log, 1);
	munmap(fresh, 4 * page);
}

/* Step CLOCK_REALTIME, then slew all clocks by +500 ppm, as NTP would. */
static void set_clock(struct log *log)
{
	struct timex slew = { .modes = ADJ_FREQUENCY, .freq = 500L << 16 };
	struct timex straight = { .modes = ADJ_FREQUENCY, .freq = 0 };
	long long target = read_ns(CLOCK_REALTIME) + 86400 * NS + 123456789, real;
	struct timespec ts = { target / NS, target % NS };
	struct timespec nap = { 0, 3000000 };

	expect(log, !clock_settime(CLOCK_REALTIME, &ts), "clock_settime failed: not root?");
	real = put_clock(log, 0);
	expect(log, real >= target && real < target + NS, "CLOCK_REALTIME is not what it was set to");
	rotate(log);
	expect(log, adjtimex(&slew) >= 0, "adjtimex failed");
	for (int round = 0; round < 10; round++) {
		nanosleep(&nap, NULL);
		for (int i = 0; i < 200; i++)
			put_clock(log, i % CLOCKS);
	}
	adjtimex(&straight);
}

enum { ROTATE, SPIN, SLEEP, PAIR, SIGNAL, UNCHARGED, CHARGED, ODD, SET, ACTORS };
static const char *const actor_names[ACTORS] = {
	"rotate", "spin", "sleep", "pair", "signal", "uncharged", "charged", "odd", "set"
};

/* One process: three threads that run at once, then the ones that want to be alone. */
static int run_process(struct log *logs)
{
	struct pair pair = {
		.log = &logs[PAIR],
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.turned = PTHREAD_COND_INITIALIZER,
	};
	pthread_t thread[5];

	pthread_create(&thread[0], NULL, rotate, &logs[ROTATE]);
	pthread_create(&thread[1], NULL, spin, &logs[SPIN]);
	pthread_create(&thread[2], NULL, sleeper, &logs[SLEEP]);
	pthread_create(&thread[3], NULL, player, &pair);
	pthread_create(&thread[4], NULL, player, &pair);
	for (int i = 0; i < 5; i++)
		pthread_join(thread[i], NULL);
	interrupted(&logs[SIGNAL]);
	odd_arguments(&logs[ODD]);
	charged(&logs[CHARGED]);
	return 0;
}

/* Reads that move no time: the same value until the process sleeps, however often */
static int free_reads(void)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME,
					    CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE };
	struct timespec wait = { .tv_nsec = 1234567 };
	int fd = open("/proc/sys/kernel/free_clock_reads", O_WRONLY), moved = 0;

	if (fd < 0 || write(fd, "1", 1) != 1)
		return 1;
	for (int turn = 0; turn < 3; turn++) {
		for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
			long long first = read_ns(clocks[i]);

			for (int more = 0; more < 10000; more++)
				moved += read_ns(clocks[i]) != first;
			printf("free %d %lld\n", (int)clocks[i], first);
		}
		nanosleep(&wait, NULL);
	}
	printf("free reads moved time %d times\n", moved);
	if (pwrite(fd, "0", 1, 0) != 1)
		return 1;
	close(fd);
	printf("not free %lld\n", read_ns(CLOCK_MONOTONIC) - read_ns(CLOCK_MONOTONIC));
	return moved != 0;
}

int main(int argc, char **argv)
{
	size_t size = sizeof(struct log) * PROCESSES * ACTORS;
	struct log *logs = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int failed = 0, status;

	/* after exec, with a new vDSO mapping: must print the time and go on */
	if (argc > 1 && !strcmp(argv[1], "--after-exec")) {
		printf("after_exec %lld\n", read_ns(CLOCK_MONOTONIC));
		return 0;
	}

	if (logs == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (int i = 0; i < PROCESSES * ACTORS; i++)
		logs[i].name = actor_names[i % ACTORS];

	for (int i = 0; i < PROCESSES; i++) {
		/* the fork happens in the middle of the parent's own reads */
		read_ns(CLOCK_MONOTONIC);
		if (fork() == 0)
			_exit(run_process(logs + i * ACTORS));
	}
	while (wait(&status) > 0)
		failed |= !WIFEXITED(status) || WEXITSTATUS(status);

	uncharged(&logs[UNCHARGED]);
	if (argc > 1 && !strcmp(argv[1], "--set-clock"))
		set_clock(&logs[SET]);

	for (int i = 0; i < PROCESSES * ACTORS; i++) {
		for (int j = 0; j < logs[i].lines; j++)
			printf("%d %s %s %lld\n", i / ACTORS, logs[i].name,
			       logs[i].line[j].what, logs[i].line[j].value);
		failed |= logs[i].failed != 0;
	}
	printf("parent %lld\n", read_ns(CLOCK_MONOTONIC));
	failed |= free_reads();
	fflush(stdout);
	if (fork() == 0)
		execl("/proc/self/exe", "clock_check", "--after-exec", (char *)NULL);
	wait(&status);
	return failed || !WIFEXITED(status) || WEXITSTATUS(status);
}
