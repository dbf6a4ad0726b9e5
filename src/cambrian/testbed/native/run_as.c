/*
 * run_as USER PROGRAM [ARGUMENTS]: run a program as a user without privileges.
 *
 * A program of its own, and not a step of the guest's first program: between fork and exec that one would have
 * the user's rights itself, and the user's programs could send it signals. Linked statically, so that it
 * runs in any root folder.
 *
 * The program gets a /tmp and a /dev/shm of its own, so that two users share no folder that both can write to.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "run_as: %s: %s\n", what, strerror(errno));
	exit(errno == ENOENT ? 127 : 126);
}

static void mount_own(const char *place, unsigned long user)
{
	char data[64];

	snprintf(data, sizeof(data), "mode=0700,uid=%lu,gid=%lu", user, user);
	if (mount("none", place, "tmpfs", MS_NOSUID | MS_NODEV, data))
		die(place);
}

/* folders of the guest's /tmp are programs that its root has mounted there: they stay in sight */
static void mount_tmp(unsigned long user)
{
	struct dirent *entry;
	DIR *shown = opendir("/tmp");
	int work = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (!shown || work < 0)
		die("/tmp");
	mount_own("/tmp", user);
	if (chdir("/tmp"))
		die("/tmp");
	while ((entry = readdir(shown)) != NULL) {
		char from[64];
		int folder;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		folder = openat(dirfd(shown), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (folder < 0)
			continue;
		snprintf(from, sizeof(from), "/proc/self/fd/%d", folder);
		if (mkdir(entry->d_name, 0755) || mount(from, entry->d_name, NULL, MS_BIND | MS_REC, NULL))
			die(entry->d_name);
		close(folder);
	}
	closedir(shown);
	if (fchdir(work))
		die("working folder");
	close(work);
}

int main(int argc, char **argv)
{
	char *end = NULL;
	unsigned long user = argc > 2 ? strtoul(argv[1], &end, 10) : 0;

	if (user == 0 || *end != '\0') {
		fprintf(stderr, "usage: run_as USER PROGRAM [ARGUMENTS]\n");
		return 126;
	}
	if (unshare(CLONE_NEWNS))
		die("own mounts");
	mount_tmp(user);
	mount_own("/dev/shm", user);
	if (setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user))
		die(argv[1]);
	/* a set-user-ID program changes nothing */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("no new privileges");
	execv(argv[2], argv + 2);
	die(argv[2]);
}
