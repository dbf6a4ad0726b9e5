# Builds the endpoint for either version of ngtcp2, against the headers and libraries of ROOT, a
# tree of unpacked Debian packages with their own libc: make OUT=FOLDER ROOT=FOLDER STACK=NAME.
OUT     ?= build
ROOT    ?= /
CC      ?= cc
CFLAGS  ?= -O2
HERE    := $(dir $(lastword $(MAKEFILE_LIST)))
PROGRAM := cambrian-$(STACK)
SHARED  := $(HERE)../shared/c
HTTP3   ?= 0
STRICT  := -std=c11 -D_GNU_SOURCE -DWITH_HTTP3=$(HTTP3) -Wall -Wextra -Werror -DSTACK='"$(STACK)"' -I$(HERE) -I$(SHARED)
LIBS    := -lngtcp2_crypto_gnutls -lngtcp2 -lgnutls -l:liburing.a
OWN     := main knobs tls controller callbacks connection protocol hq_server server client
ifeq ($(HTTP3),1)
OWN     += h3_server page
LIBS    += -lnghttp3
endif
COMMON  := address events stop options hq transport_log udp ring
SOURCES := $(OWN:%=$(HERE)%.c) $(COMMON:%=$(SHARED)/%.c)
HEADERS := $(wildcard $(HERE)*.h $(SHARED)/*.h)

$(OUT)/$(PROGRAM): $(SOURCES) $(HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $(OUT)
	$(CC) --sysroot=$(ROOT) $(STRICT) $(CFLAGS) $(LDFLAGS) -o $@ $(SOURCES) $(LIBS)

.PHONY: clean
clean:
	rm -f $(OUT)/$(PROGRAM)
