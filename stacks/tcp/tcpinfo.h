/* What the kernel counts about a connection (TCP_INFO): the stats event and
   the polled transport log. */
#ifndef TCPINFO_H
#define TCPINFO_H

#include <stdint.h>
#include <stdio.h>

/* Prints one stats event. number: which connection, from 0. Nothing is
   printed if the kernel will not say. */
void tcpinfo_print_stats(int descriptor, unsigned number);

/* Appends one `sample` row. */
void tcpinfo_log_sample(FILE *log, int descriptor);

#endif
