/*
 * /proc/kernel_entries counts system calls, their errors and page faults; a first write to
 * anonymous memory brings in 16 pages.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 1000
#define ERRORS 100
#define BLOCKS 64
#define BLOCK (16 * 4096)

static void read_entries(int what, unsigned long *count, unsigned long *failed)
{
	unsigned long found_count, found_failed;
	FILE *file = fopen("/proc/kernel_entries", "r");
	unsigned int user;
	int found;

	*count = *failed = 0;
	if (!file)
		exit(2);
	while (fscanf(file, "%u %d %lu %lu", &user, &found, &found_count, &found_failed) == 4)
		if (user == 0 && found == what) {
			*count = found_count;
			*failed = found_failed;
		}
	fclose(file);
}

int main(void)
{
	unsigned long before, after, failed_before, failed_after;
	char *block;
	int i;

	read_entries(SYS_getppid, &before, &failed_before);
	for (i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	read_entries(SYS_getppid, &after, &failed_after);
	printf("getppid %lu %lu\n", after - before, failed_after - failed_before);

	read_entries(SYS_dup, &before, &failed_before);
	for (i = 0; i < ERRORS; i++)
		syscall(SYS_dup, -1);
	read_entries(SYS_dup, &after, &failed_after);
	printf("dup %lu %lu\n", after - before, failed_after - failed_before);

	block = mmap(NULL, (BLOCKS + 1) * BLOCK, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	block += -(unsigned long)block % BLOCK;
	/* memory for the stream's buffer is there before the count begins */
	read_entries(-1, &before, &failed_before);
	read_entries(-1, &before, &failed_before);
	/* from the last page to the first */
	for (i = BLOCKS * BLOCK - 4096; i >= 0; i -= 4096)
		block[i] = 1;
	read_entries(-1, &after, &failed_after);
	printf("page faults %lu\n", after - before);
	for (i = 0; i < BLOCKS * BLOCK; i++)
		if (block[i] != (i % 4096 == 0))
			return 3;
	return 0;
}
