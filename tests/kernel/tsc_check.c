/*
 * Reads the time-stamp counter in many ways, from threads and processes, and prints
 * every value.
 *
 * With cambrian.tsc=1 the output is a pure function of the kernel: any two boots must
 * print the same bytes, whatever cambrian.vdso_clock= says. Independently of that, each
 * actor checks that the counter is CLOCK_MONOTONIC_RAW in nanoseconds, never stands still,
 * and that faults which are no counter reads are what they were. Actors write into shared
 * memory and the parent prints at the end, so the output does not depend on scheduling.
 *
 *   cc -O2 -pthread -o tsc_check tsc_check.c
 *   tsc_check [--host]
 *
 * --host is for the host's own counter, where nothing can be said about the values: it
 * only checks the faults, and prints nothing that may differ.
 *
 * Exit status: 0, or 1 if something misbehaved (what and where on standard error).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000LL
#define PROCESSES 3
#define THREADS 3
#define LOG_VALUES 8000

struct log {
	int values, failed;
	long long value[LOG_VALUES];
};

static int on_host;

static void put(struct log *log, long long value)
{
	if (log->values < LOG_VALUES)
		log->value[log->values++] = value;
	else if (!log->failed++)
		fprintf(stderr, "log is full\n");
}

static void expect(struct log *log, int holds, const char *what)
{
	if (!holds && !log->failed++)
		fprintf(stderr, "value %d: %s\n", log->values, what);
}

static long long rdtsc(void)
{
	/* the upper halves are to be cleared */
	unsigned long low = ~0UL, high = ~0UL;

	asm volatile("rdtsc" : "+a"(low), "+d"(high));
	return low | high << 32;
}

static long long rdtscp(unsigned long *cpu)
{
	unsigned long low = ~0UL, high = ~0UL;

	*cpu = ~0UL;
	asm volatile("rdtscp" : "+a"(low), "+d"(high), "+c"(*cpu));
	return low | high << 32;
}

static long long raw_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

/* Counter and clock in turn: one and the same time, so that they interleave exactly. */
static void *alternate(void *arg)
{
	struct log *log = arg;
	struct timespec nap = { 0, 300000 };

	for (int round = 0; round < 1000; round++) {
		unsigned long cpu;
		long long at[5];

		for (int i = 0; i < round % 7; i++)
			raw_ns();
		at[0] = raw_ns();
		at[1] = rdtsc();
		at[2] = raw_ns();
		at[3] = rdtscp(&cpu);
		at[4] = raw_ns();
		for (int i = 0; i < 5; i++) {
			put(log, at[i]);
			expect(log, !i || at[i] > at[i - 1], "counter and clock are not the same time");
		}
		expect(log, cpu == 0, "RDTSCP names another processor than 0");
		if (round % 50 == 0)
			nanosleep(&nap, NULL);
	}
	return NULL;
}

/* Wait by the counter alone, as spin locks and busy polling do. */
static void *spin(void *arg)
{
	struct log *log = arg;

	for (int round = 1; round <= 40; round++) {
		long long start = rdtsc(), now = start, reads = 0;

		for (; now < start + round * 37000LL; reads++) {
			long long next = rdtsc();

			expect(log, next > now, "the counter stood still");
			now = next;
		}
		put(log, now);
		put(log, reads);
	}
	return NULL;
}

/* How programs find the counter's frequency: at both ends of a nap, between clock reads. */
static void *calibrate(void *arg)
{
	struct log *log = arg;

	for (int round = 0; round < 20; round++) {
		struct timespec nap = { 0, 1000000 + round * 77777 };
		long long before = raw_ns(), tsc = rdtsc(), after = raw_ns();
		long long least, most;

		nanosleep(&nap, NULL);
		least = raw_ns() - after;
		tsc = rdtsc() - tsc;
		most = raw_ns() - before;
		put(log, tsc);
		expect(log, least < tsc && tsc < most, "the frequency is not 1 GHz");
	}
	return NULL;
}

static sigjmp_buf out;
static siginfo_t fault;

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
	(void)signal_number, (void)context;
	fault = *info;
	siglongjmp(out, 1);
}

/* Run the code at an address; tell what it faulted at, or -1 if it returned. */
static long run(const void *code)
{
	memset(&fault, 0, sizeof(fault));
	if (sigsetjmp(out, 1))
		return (long)fault.si_addr;
	((void (*)(void))code)();
	return -1;
}

/* Whether a child that runs the code is killed by SIGSEGV. */
static int kills(const void *code)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		((void (*)(void))code)();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

/* RDTSC and RDTSCP at the edge of a page, in a page not to be read; other faults. */
static void faults(struct log *log)
{
	static const char tsc[] = "\x0f\x31", tscp[] = "\x0f\x01\xf9", halt[] = "\xf4",
			  tsc_return[] = "\x0f\x31\xc3",
			  /* xor eax, eax; mov eax, [rax] */
			  null_read[] = "\x31\xc0\x8b\x00";
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, old;
	long size = sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, 3 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, tsc_return, 3);
	memcpy(page + 16, halt, 1);
	memcpy(page + 32, null_read, 4);
	memcpy(page + size - 3, "\x90", 1);
	memcpy(page + size - 2, tsc, 2);
	memcpy(page + 2 * size - 3, tscp, 3);
	mprotect(page, 2 * size, PROT_READ | PROT_EXEC);
	mprotect(page + 2 * size, size, PROT_NONE);
	sigaction(SIGSEGV, &action, &old);

	expect(log, run(page) == -1, "RDTSC faulted");
	expect(log, run(page + 2 * size - 3) == (long)(page + 2 * size), "RDTSCP at the end of a page");
	mprotect(page + size, size, PROT_NONE);
	expect(log, run(page + size - 2) == (long)(page + size), "RDTSC at the end of a page");
	run(page + 16);
	expect(log, fault.si_signo == SIGSEGV, "a privileged instruction did not fault");
	expect(log, run(page + 32) == 0 && fault.si_signo == SIGSEGV, "a read of NULL did not fault");
	expect(log, run(page + size) == (long)(page + size), "a jump to nowhere did not fault");
	expect(log, kills(page + 16), "a privileged instruction did not kill");
	expect(log, kills(page + 32), "a read of NULL did not kill");
	expect(log, !kills(page), "RDTSC killed");
	mprotect(page, size, PROT_EXEC);
	expect(log, run(page) == -1, "RDTSC faulted in a page that is not to be read");

	sigaction(SIGSEGV, &old, NULL);
	munmap(page, 3 * size);
	if (!on_host)
		put(log, rdtsc());
}

static void run_process(struct log *logs)
{
	static void *(*const actor[THREADS])(void *) = { alternate, spin, calibrate };
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS && !on_host; i++)
		pthread_create(&thread[i], NULL, actor[i], &logs[i]);
	for (int i = 0; i < THREADS && !on_host; i++)
		pthread_join(thread[i], NULL);
	faults(&logs[THREADS]);
	_exit(0);
}

int main(int argc, char **argv)
{
	int actors = PROCESSES * (THREADS + 1), failed = 0, status;
	struct log *logs = mmap(NULL, sizeof(struct log) * actors, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	/* a counter that still traps, and goes on, after exec */
	if (argc > 1 && !strcmp(argv[1], "--after-exec")) {
		printf("after_exec %lld\n", rdtsc());
		return 0;
	}
	if (logs == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	on_host = argc > 1 && !strcmp(argv[1], "--host");

	for (int i = 0; i < PROCESSES; i++) {
		rdtsc();
		if (fork() == 0)
			run_process(logs + i * (THREADS + 1));
	}
	while (wait(&status) > 0)
		failed |= !WIFEXITED(status) || WEXITSTATUS(status);
	for (int i = 0; i < actors; i++) {
		for (int j = 0; j < logs[i].values; j++)
			printf("%d %d %lld\n", i / (THREADS + 1), i % (THREADS + 1), logs[i].value[j]);
		failed |= logs[i].failed != 0;
	}
	if (on_host)
		return failed;
	printf("parent %lld\n", rdtsc());
	fflush(stdout);
	if (fork() == 0)
		execl("/proc/self/exe", "tsc_check", "--after-exec", (char *)NULL);
	wait(&status);
	return failed || !WIFEXITED(status) || WEXITSTATUS(status);
}
