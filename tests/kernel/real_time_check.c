/*
 * In real time the kernel interrupts programs at each tick. No system call may fail for it:
 * two processes take turns, and one counts its calls that fail.
 */

#include <stdio.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	pid_t other = fork();
	long failed = 0;

	if (other == 0)
		for (;;)
			syscall(SYS_getppid);
	for (int call = 0; call < 500000; call++)
		failed += syscall(SYS_getppid) < 0;
	kill(other, SIGKILL);
	wait(NULL);
	printf("failed %ld\n", failed);
	return failed != 0;
}
