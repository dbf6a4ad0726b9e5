/*
 * run_as USER PROGRAM [ARGUMENTS]: run a program as a user without privileges.
 *
 * A program of its own, and not a step of the guest's first program: between fork and exec that one would have
 * the user's rights itself, and the user's programs could send it signals. Linked statically, so that it
 * runs in any root folder.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "run_as: %s: %s\n", what, strerror(errno));
	exit(errno == ENOENT ? 127 : 126);
}

int main(int argc, char **argv)
{
	char *end = NULL;
	unsigned long user = argc > 2 ? strtoul(argv[1], &end, 10) : 0;

	if (user == 0 || *end != '\0') {
		fprintf(stderr, "usage: run_as USER PROGRAM [ARGUMENTS]\n");
		return 126;
	}
	if (setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user))
		die(argv[1]);
	/* a set-user-ID program changes nothing */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("no new privileges");
	execv(argv[2], argv + 2);
	die(argv[2]);
}
