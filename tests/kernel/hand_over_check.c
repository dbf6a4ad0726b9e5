/*
 * System calls return what they should and change no other register, however the kernel learns
 * of them: with threads that run by turns, signals, tracers, filters, ends and new pages. What
 * this prints must not depend on the way (seccomp notifications, signals or ptrace).
 */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("line %d: %s; errno %d\n", __LINE__, #condition, errno);            \
			fflush(stdout);                                                            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* A system call with known values in the registers that it must keep; returns how many changed */
static int checked_call(long number, long a, long b, long c, uint64_t mark, long *result)
{
	uint64_t general[6], vector[4], flags;
	int changed = 0;

	__asm__ volatile("movq %[mark], %%rbx\n\t"
			 "leaq 1(%%rbx), %%r12\n\t"
			 "leaq 2(%%rbx), %%r13\n\t"
			 "leaq 3(%%rbx), %%r14\n\t"
			 "leaq 4(%%rbx), %%r15\n\t"
			 "movq %%rbx, %%xmm1\n\t"
			 "movq %%r12, %%xmm7\n\t"
			 "movq %%r13, %%xmm9\n\t"
			 "movq %%r14, %%xmm15\n\t"
			 "movq %[c], %%rdx\n\t"
			 "movq %%r15, %%r10\n\t"
			 "stc\n\t"
			 "syscall\n\t"
			 "movq %%rbx, 0(%[general])\n\t"
			 "movq %%r12, 8(%[general])\n\t"
			 "movq %%r13, 16(%[general])\n\t"
			 "movq %%r14, 24(%[general])\n\t"
			 "movq %%r15, 32(%[general])\n\t"
			 "movq %%r10, 40(%[general])\n\t"
			 "movq %%xmm1, 0(%[vector])\n\t"
			 "movq %%xmm7, 8(%[vector])\n\t"
			 "movq %%xmm9, 16(%[vector])\n\t"
			 "movq %%xmm15, 24(%[vector])\n\t"
			 "pushfq\n\t"
			 "popq %[flags]\n\t"
			 : "=a"(*result), [flags] "=&r"(flags)
			 : "a"(number), "D"(a), "S"(b), [c] "g"(c), [mark] "g"(mark),
			   [general] "r"(general), [vector] "r"(vector)
			 : "rcx", "r11", "rbx", "r12", "r13", "r14", "r15", "rdx", "r10", "xmm1",
			   "xmm7", "xmm9", "xmm15", "memory", "cc");
	for (int at = 0; at < 5; at++)
		changed += general[at] != mark + at;
	changed += general[5] != mark + 4;
	for (int at = 0; at < 4; at++)
		changed += vector[at] != mark + at;
	return changed + !(flags & 1);
}

/* Two threads pass a token through pipes, so each call of one lets the other run */
#define TURNS 400

static int to[2], back[2];

static void *pass_tokens(void *is_first)
{
	int *in = is_first ? back : to, *out = is_first ? to : back;
	long changed = 0, result;
	char token = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		uint64_t mark = 0x1234567800000000u + (is_first ? 0 : 0x1000000) + 16 * turn;

		if (is_first) {
			changed += checked_call(SYS_write, out[1], (long)&token, 1, mark, &result);
			MUST(result == 1);
		}
		changed += checked_call(SYS_read, in[0], (long)&token, 1, mark, &result);
		MUST(result == 1);
		if (!is_first) {
			token++;
			changed += checked_call(SYS_write, out[1], (long)&token, 1, mark, &result);
			MUST(result == 1);
		}
		changed += checked_call(SYS_getppid, 0, 0, 0, mark, &result);
		changed += checked_call(SYS_close, -1, 0, 0, mark, &result);
		MUST(result == -EBADF);
	}
	return (void *)changed;
}

static void threads_by_turns(void)
{
	pthread_t thread;
	void *changed;

	MUST(pipe(to) == 0 && pipe(back) == 0);
	MUST(pthread_create(&thread, NULL, pass_tokens, NULL) == 0);
	printf("first: %ld registers changed\n", (long)pass_tokens((void *)1));
	MUST(pthread_join(thread, &changed) == 0);
	printf("second: %ld registers changed\n", (long)changed);
}

static void alone(void)
{
	long changed = 0, result;

	for (int turn = 0; turn < TURNS; turn++) {
		struct timespec wait = { .tv_nsec = 1000 };
		uint64_t mark = 0x7edcba9800000000u + 16 * turn;

		changed += checked_call(SYS_nanosleep, (long)&wait, 0, 0, mark, &result);
		MUST(result == 0);
		changed += checked_call(SYS_nanosleep, (long)&wait, 1, 0, mark, &result);
		changed += checked_call(SYS_getuid, 0, 0, 0, mark, &result);
		MUST(result == 0);
	}
	printf("alone: %ld registers changed\n", changed);
}

/* Signals that interrupt a call, restart it, and look at its registers */
static volatile sig_atomic_t signals, rbx_was_right, on_own_stack;
static sigjmp_buf out;
static char other_stack[65536];

static void on_signal(int signal, siginfo_t *info, void *context)
{
	ucontext_t *user = context;
	char here;

	signals++;
	rbx_was_right += user->uc_mcontext.gregs[REG_RBX] == 0x5555555500000000;
	on_own_stack += &here >= other_stack && &here < other_stack + sizeof(other_stack);
	if (signal == SIGUSR2)
		siglongjmp(out, 1);
}

static void set_handler(int signal, int flags)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags };

	MUST(sigaction(signal, &action, NULL) == 0);
}

static void wake_later(long usec)
{
	struct itimerval timer = { .it_value = { .tv_usec = usec } };

	MUST(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void signals_in_calls(void)
{
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };
	struct timespec wait = { .tv_nsec = 5000000 }, left = { 0 };
	long result;
	int ends[2];
	char byte;

	MUST(pipe(ends) == 0);
	MUST(sigaltstack(&stack, NULL) == 0);

	set_handler(SIGALRM, SA_ONSTACK);
	wake_later(1000);
	MUST(checked_call(SYS_read, ends[0], (long)&byte, 1, 0x5555555500000000, &result) == 0);
	printf("read: %ld after %d signals, rbx right in %d, own stack in %d\n", result, signals,
	       rbx_was_right, on_own_stack);

	wake_later(1000);
	MUST(checked_call(SYS_nanosleep, (long)&wait, (long)&left, 0, 0x5555555500000000,
			  &result) == 0);
	printf("nanosleep: %ld, %ld us left\n", result, left.tv_nsec / 1000);

	set_handler(SIGALRM, SA_RESTART);
	if (fork() == 0) {
		usleep(3000);
		MUST(write(ends[1], "x", 1) == 1);
		_exit(0);
	}
	wake_later(1000);
	MUST(checked_call(SYS_read, ends[0], (long)&byte, 1, 0x5555555500000000, &result) == 0);
	printf("restarted read: %ld after %d signals\n", result, signals);
	MUST(wait4(-1, NULL, 0, NULL) > 0);

	set_handler(SIGUSR2, 0);
	if (!sigsetjmp(out, 1)) {
		if (fork() == 0) {
			usleep(1000);
			kill(getppid(), SIGUSR2);
			_exit(0);
		}
		read(ends[0], &byte, 1);
	}
	printf("left a read by longjmp after %d signals\n", signals);
	MUST(wait4(-1, NULL, 0, NULL) > 0);
}

/* A tracer sees and changes registers of calls */
static void traced(void)
{
	struct user_regs_struct regs;
	int status, stops = 0, seen = 0;
	pid_t child = fork();

	if (child == 0) {
		long result;
		int changed;

		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		changed = checked_call(SYS_getppid, 0, 0, 0, 0x6666666600000000, &result);
		_exit(result == 4242 && changed == 1 ? 7 : 8);
	}
	MUST(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	MUST(ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_TRACESYSGOOD) == 0);
	while (ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0) {
		MUST(waitpid(child, &status, 0) == child);
		if (!WIFSTOPPED(status))
			break;
		MUST(ptrace(PTRACE_GETREGS, child, NULL, &regs) == 0);
		stops++;
		if (regs.rbx != 0x6666666600000000)
			continue;
		seen += regs.r15 == 0x6666666600000004;
		if (seen == 2) {
			/* on the way out: another result, and one register that is seen to change */
			regs.rax = 4242;
			regs.r12 ^= 1;
			MUST(ptrace(PTRACE_SETREGS, child, NULL, &regs) == 0);
		}
	}
	printf("traced: %d stops seen, exit status %d\n", seen, WEXITSTATUS(status));
}

/* Filters of the guest's own */
static volatile sig_atomic_t trapped_call;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	trapped_call = info->si_syscall;
	user->uc_mcontext.gregs[REG_RAX] = 77;
}

static void *killed_thread(void *unused)
{
	syscall(SYS_getpgid, 0);
	return NULL;
}

static void filtered(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		struct sock_filter filter[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 3, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 3, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 3, 0),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 55),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
		};
		struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
		struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
		pthread_t thread;
		long result;

		MUST(sigaction(SIGSYS, &action, NULL) == 0);
		MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
		MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
		MUST(checked_call(SYS_getppid, 0, 0, 0, 0x7777777700000000, &result) == 0);
		MUST(result == -55);
		MUST(checked_call(SYS_getsid, 0, 0, 0, 0x7777777700000000, &result) == 0);
		MUST(result == 77 && trapped_call == SYS_getsid);
		MUST(pthread_create(&thread, NULL, killed_thread, NULL) == 0);
		usleep(1000);
		MUST(checked_call(SYS_getuid, 0, 0, 0, 0x7777777700000000, &result) == 0);
		_exit(9);
	}
	MUST(waitpid(child, &status, 0) == child);
	printf("filtered: exit status %d\n", WEXITSTATUS(status));
}

/* Threads that end, or whose process ends, while others are in calls */
static void *blocked(void *end)
{
	char byte;

	read(*(int *)end, &byte, 1);
	return NULL;
}

static void *ends(void *unused)
{
	usleep(500);
	return NULL;
}

static void ends_in_calls(void)
{
	int status;

	for (int how = 0; how < 4; how++) {
		pid_t child = fork();

		if (child == 0) {
			pthread_t thread;
			int pipes[2];

			MUST(pipe(pipes) == 0);
			for (int at = 0; at < 3; at++)
				MUST(pthread_create(&thread, NULL, blocked, &pipes[0]) == 0);
			MUST(pthread_create(&thread, NULL, ends, NULL) == 0);
			usleep(1000);
			if (how == 0)
				_exit(3);
			if (how == 1)
				execl("/bin/sh", "sh", "-c", "exit 4", NULL);
			if (how == 2)
				abort();
			pause();
		}
		if (how == 3) {
			usleep(5000);
			MUST(kill(child, SIGKILL) == 0);
		}
		MUST(waitpid(child, &status, 0) == child);
		printf("ended by %d: status %x\n", how, status & 0xff7f);
	}
}

/* Calls that bring in pages, change protections, and take memory away under the other's feet */
static void *reader(void *unused)
{
	long sum = 0;

	for (int turn = 0; turn < 50; turn++) {
		unsigned char *fresh = mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int got = 0;

		MUST(fresh != MAP_FAILED);
		while (got < 1 << 17) {
			int more = read(to[0], fresh + got, (1 << 17) - got);

			MUST(more > 0);
			got += more;
		}
		for (int at = 0; at < 1 << 17; at += 997)
			sum += fresh[at];
		MUST(mprotect(fresh, 1 << 16, PROT_NONE) == 0);
		if (turn < 49)
			MUST(read(to[0], fresh, 1) == -1 && errno == EFAULT);
		MUST(munmap(fresh, 1 << 17) == 0);
	}
	return (void *)sum;
}

static void pages_in_calls(void)
{
	unsigned char *block = malloc(1 << 17);
	pthread_t thread;
	void *sum;

	for (int at = 0; at < 1 << 17; at++)
		block[at] = at * 7;
	MUST(pipe(to) == 0);
	MUST(pthread_create(&thread, NULL, reader, NULL) == 0);
	for (int turn = 0; turn < 50; turn++) {
		int sent = 0;

		while (sent < 1 << 17) {
			int more = write(to[1], block + sent, (1 << 17) - sent);

			MUST(more > 0);
			sent += more;
		}
	}
	close(to[1]);
	MUST(pthread_join(thread, &sum) == 0);
	printf("pages: sum %ld\n", (long)sum);
	free(block);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	alone();
	threads_by_turns();
	alone();
	signals_in_calls();
	traced();
	filtered();
	ends_in_calls();
	pages_in_calls();
	alone();
	printf("done\n");
	return 0;
}
