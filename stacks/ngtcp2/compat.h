/* One source for ngtcp2 0.12 and 1.x: what 1.0 renamed, under its newer name. */
#ifndef COMPAT_H
#define COMPAT_H

#include <ngtcp2/ngtcp2.h>

#if NGTCP2_VERSION_NUM < 0x010000

typedef ngtcp2_connection_close_error ngtcp2_ccerr;
typedef ngtcp2_conn_stat ngtcp2_conn_info;
#define ngtcp2_ccerr_default ngtcp2_connection_close_error_default
#define ngtcp2_ccerr_set_liberr ngtcp2_connection_close_error_set_transport_error_liberr
#define ngtcp2_ccerr_set_application_error ngtcp2_connection_close_error_set_application_error
#define ngtcp2_conn_get_conn_info ngtcp2_conn_get_conn_stat
#define ngtcp2_conn_in_closing_period ngtcp2_conn_is_in_closing_period
#define ngtcp2_conn_in_draining_period ngtcp2_conn_is_in_draining_period
#define COMPAT_HAS_BBR2 1
#define COMPAT_RENO_IS_TOLD 0
#define COMPAT_ORIGINAL_DCID(params, cid) ((params)->original_dcid = (cid))

/* Bytes a nanosecond in the library, whatever its header says; 0 = the controller sets none, and the
   library paces at 1.25 cwnd / sRTT (lib/ngtcp2_conn.c, ngtcp2_conn_update_pkt_tx_time). */
static inline uint64_t compat_pacing_bps(const ngtcp2_conn_info *info) {
    double rate = info->pacing_rate > 0 ? info->pacing_rate
                                        : 1.25 * (double)info->cwnd / (double)info->smoothed_rtt;
    return (uint64_t)(rate * 8e9);
}

#else

#define COMPAT_HAS_BBR2 0
#define COMPAT_RENO_IS_TOLD 1
#define COMPAT_ORIGINAL_DCID(params, cid) ((params)->original_dcid = (cid), (params)->original_dcid_present = 1)

/* 1.x keeps its controller's pacing interval to itself. */
static inline uint64_t compat_pacing_bps(const ngtcp2_conn_info *info) {
    (void)info;
    return UINT64_MAX;
}

#endif
#endif
