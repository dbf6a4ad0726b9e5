/* What ngtcp2 calls back: its crypto helper, and the connection's application. */
#ifndef CALLBACKS_H
#define CALLBACKS_H

#include <ngtcp2/ngtcp2.h>

/* Their user data is a struct connection. */
extern const ngtcp2_callbacks CALLBACKS;

/* Debug log of the library, for the connection's controller. */
void log_line(void *user, const char *format, ...);

#endif
