#include "tcpinfo.h"

#include "events.h"
#include "transport_log.h"

#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

static bool read_info(int descriptor, struct tcp_info *info) {
    socklen_t length = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &length) == 0;
}

void tcpinfo_print_stats(int descriptor, unsigned number) {
    struct tcp_info info;
    if (!read_info(descriptor, &info))
        return;
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"packets_sent", info.tcpi_segs_out},
        {"packets_sent_with_data", info.tcpi_data_segs_out},
        {"packets_received", info.tcpi_segs_in},
        {"packets_retransmitted", info.tcpi_total_retrans},
        {"packets_lost_now", info.tcpi_lost},
        {"packets_duplicate_at_receiver", info.tcpi_dsack_dups}, /* spurious retransmissions, by DSACK */
        {"reorderings_seen", info.tcpi_reord_seen},
        {"reordering_packets", info.tcpi_reordering},
        {"ecn_ce_packets", info.tcpi_delivered_ce},
        {"bytes_sent", info.tcpi_bytes_sent},
        {"bytes_acked", info.tcpi_bytes_acked},
        {"bytes_retransmitted", info.tcpi_bytes_retrans},
        {"bytes_not_sent", info.tcpi_notsent_bytes},
        {"mss_bytes", info.tcpi_snd_mss},
        {"cwnd_packets", info.tcpi_snd_cwnd},
        {"min_rtt_us", info.tcpi_min_rtt},
        {"srtt_us", info.tcpi_rtt},
        {"receive_window_bytes", info.tcpi_snd_wnd},
        /* How long data was outstanding, and how much of that the peer's window
           or our send buffer was the limit: both must be 0 in a fair trial. */
        {"busy_us", info.tcpi_busy_time},
        {"rwnd_limited_us", info.tcpi_rwnd_limited},
        {"sndbuf_limited_us", info.tcpi_sndbuf_limited},
    };
    printf("{\"event\":\"stats\",\"connection\":%u", number);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        printf(",\"%s\":%" PRIu64, counts[i].name, counts[i].value);
    puts("}");
    fflush(stdout);
}

/* The kernel's own words, as in the rows of its trace points, with which these are read: a controller such as BBR has
   other states within "open". */
static const char *state_name(const struct tcp_info *info) {
    static const char *const NAMES[] = {"open", "disorder", "cwr", "recovery", "loss"}; /* enum tcp_ca_state */
    unsigned state = info->tcpi_ca_state;
    return state < sizeof NAMES / sizeof NAMES[0] ? NAMES[state] : "";
}

void tcpinfo_log_sample(FILE *log, int descriptor) {
    enum { SSTHRESH_UNSET = 0x7fffffff }; /* TCP_INFINITE_SSTHRESH */
    struct tcp_info info;
    if (!read_info(descriptor, &info))
        return;
    uint64_t mss = info.tcpi_snd_mss;
    uint64_t in_flight = (uint64_t)info.tcpi_unacked + info.tcpi_retrans - info.tcpi_sacked - info.tcpi_lost;
    transport_log_write(log, &(struct transport_row){
        .event = "sample",
        .time_ns = realtime_ns(),
        .cwnd_bytes = info.tcpi_snd_cwnd * mss,
        .ssthresh_bytes = info.tcpi_snd_ssthresh < SSTHRESH_UNSET ? info.tcpi_snd_ssthresh * mss : NOT_SAID,
        .in_flight_bytes = in_flight * mss,
        .srtt_us = info.tcpi_rtt,
        .pacing_bps = info.tcpi_pacing_rate != UINT64_MAX ? info.tcpi_pacing_rate * 8 : NOT_SAID,
        .state = state_name(&info),
    });
}
