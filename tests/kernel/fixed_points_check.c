/*
 * Checks the knobs by which a trial is set up without a trace of what set it up:
 * /proc/sys/kernel/random/restart, /proc/sys/kernel/free_clock_reads, and timers that
 * fire at the clock's ticks.
 *
 * As root in a guest of cambrian.seed=, inf-cpu:
 *   cc -O2 -pthread -o fixed_points_check fixed_points_check.c
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RESTART "/proc/sys/kernel/random/restart"
#define FREE_READS "/proc/sys/kernel/free_clock_reads"
#define NS 1000000000LL

enum { TICK_NS = 256, NOBODY = 65534 };

static int failures;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("FAILED: %s\n", what);
		failures++;
	}
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ok;

	if (fd < 0)
		return 0;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

static uint64_t draw(void)
{
	uint64_t value = 0;

	if (getrandom(&value, sizeof(value), 0) != sizeof(value))
		expect(0, "getrandom() gave less than was asked for");
	return value;
}

static uint64_t draw_after(const char *label)
{
	expect(put(RESTART, label), "cannot restart randomness");
	return draw();
}

/* What a child draws after it has drawn so many times before */
static uint64_t childs_draw(int before)
{
	int ends[2];
	uint64_t value = 0;

	if (pipe(ends))
		exit(1);
	if (fork() == 0) {
		while (before--)
			draw();
		value = draw();
		_exit(write(ends[1], &value, sizeof(value)) != sizeof(value));
	}
	wait(NULL);
	if (read(ends[0], &value, sizeof(value)) != sizeof(value))
		expect(0, "the child drew nothing");
	close(ends[0]);
	close(ends[1]);
	return value;
}

static void check_restart(void)
{
	uint64_t first = draw_after("a"), second = draw(), child, after;

	expect(first != second, "two draws are the same");
	expect(draw_after("b") != first, "two labels give the same");
	expect(draw_after("a") == first && draw() == second, "a label does not give the same again");

	put(RESTART, "a");
	child = childs_draw(0);
	after = draw();
	expect(child != first, "a child draws from its parent's stream");
	put(RESTART, "a");
	expect(childs_draw(1000) != child, "a child's draws are all the same");
	expect(draw() == after, "a child's draws show in its parent's");

	put(RESTART, "a");
	expect(childs_draw(0) == child, "a child does not draw the same again");
	printf("drew %016llx %016llx\n", (unsigned long long)first, (unsigned long long)child);
}

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

static long long childs_step_ns(void)
{
	int status;

	if (fork() == 0) {
		long long before = now_ns();

		_exit((int)((now_ns() - before) / TICK_NS));
	}
	wait(&status);
	return WEXITSTATUS(status) * (long long)TICK_NS;
}

static void check_free_reads(void)
{
	long long before = now_ns();

	expect(now_ns() - before == TICK_NS, "a clock read is not a tick");
	expect(put(FREE_READS, "1"), "cannot make clock reads free");
	before = now_ns();
	for (int i = 0; i < 1000; i++)
		now_ns();
	expect(now_ns() == before, "a free clock read moves time");
	usleep(1000);
	expect(now_ns() - before >= 1000000, "a sleep moves no time");
	expect(childs_step_ns() == TICK_NS, "a child's clock reads are not as ever");
	expect(put(FREE_READS, "0"), "cannot make clock reads as before");
	before = now_ns();
	expect(now_ns() - before == TICK_NS, "a clock read is still free");
}

/* Sleep until times between two ticks: each time the clock then shows the later of them. */
static void check_ticks(void)
{
	/* a nanosecond is the least slack */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	for (int i = 1; i <= 1000; i++) {
		long long start = now_ns(), wait = (20000 + i * 7919LL) | 1;
		struct timespec at = { (start + wait) / NS, (start + wait) % NS };
		long long ticks = (wait + TICK_NS - 1) / TICK_NS;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		/* to read it takes one more */
		expect(now_ns() - start == (ticks + 1) * TICK_NS, "a timer does not fire at the first tick");
	}
	prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0);
}

static void check_rights(void)
{
	int status;

	if (fork() == 0) {
		if (setresuid(NOBODY, NOBODY, NOBODY))
			_exit(2);
		_exit(put(RESTART, "a") || put(FREE_READS, "1"));
	}
	wait(&status);
	expect(status == 0, "a user without privileges can use the knobs");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	check_restart();
	check_free_reads();
	check_ticks();
	check_rights();
	return failures != 0;
}
