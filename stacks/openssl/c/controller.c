#include "controller.h"

/* OpenSSL's own, from its source; with assertions its structures have other layouts. */
#ifndef NDEBUG
#error "build with NDEBUG, as OpenSSL is"
#endif
#include "internal/quic_ackm.h"
#include "internal/quic_cc.h"
#include "internal/quic_ssl.h"
#include "internal/quic_statm.h"
#include "quic_channel_local.h"

#include "events.h"
#include "transport_log.h"

#include <stdlib.h>

struct controller {
    QUIC_CHANNEL *channel;
    /* What the controller keeps up to date. */
    uint64_t cwnd, in_flight;
    uint32_t state;
    uint64_t logged_cwnd, logged_in_flight, logged_srtt_us, logged_acked;
};

struct controller *controller_watch(SSL *connection) {
    struct controller *controller = calloc(1, sizeof *controller);
    if (!controller) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    controller->channel = ossl_quic_conn_get_channel(connection);
    OSSL_PARAM wanted[] = {
        OSSL_PARAM_uint64(OSSL_CC_OPTION_CUR_CWND_SIZE, &controller->cwnd),
        OSSL_PARAM_uint64(OSSL_CC_OPTION_CUR_BYTES_IN_FLIGHT, &controller->in_flight),
        OSSL_PARAM_uint32(OSSL_CC_OPTION_CUR_STATE, &controller->state),
        OSSL_PARAM_END,
    };
    QUIC_CHANNEL *channel = controller->channel;
    channel->cc_method->bind_diagnostics(channel->cc_data, wanted);
    return controller;
}

const char *controller_name(const struct controller *controller) {
    return controller->channel->cc_method == &ossl_cc_newreno_method ? "newreno" : NULL;
}

static const char *state_name(uint32_t state) {
    switch (state) {
    case 'S': return "slow_start";
    case 'A': return "congestion_avoidance";
    case 'R': return "recovery";
    default: return "";
    }
}

void controller_log(struct controller *controller, FILE *log) {
    OSSL_RTT_INFO rtt;
    ossl_statm_get_rtt_info(&controller->channel->statm, &rtt);
    uint64_t srtt_us = ossl_time2us(rtt.smoothed_rtt);
    /* What was acknowledged has been replaced in flight by now: the packet numbers tell. */
    uint64_t acked = ossl_ackm_get_largest_acked(controller->channel->ackm, QUIC_PN_SPACE_APP);
    if (controller->cwnd == controller->logged_cwnd && controller->in_flight == controller->logged_in_flight &&
        srtt_us == controller->logged_srtt_us && acked == controller->logged_acked)
        return;
    transport_log_write(log, &(struct transport_row){
        .event = controller->cwnd < controller->logged_cwnd ? "loss" : "ack",
        .time_ns = realtime_ns(),
        .cwnd_bytes = controller->cwnd,
        .ssthresh_bytes = NOT_SAID,
        .in_flight_bytes = controller->in_flight,
        .srtt_us = srtt_us,
        .pacing_bps = NOT_SAID, /* it does not pace */
        .state = state_name(controller->state),
    });
    controller->logged_cwnd = controller->cwnd;
    controller->logged_in_flight = controller->in_flight;
    controller->logged_srtt_us = srtt_us;
    controller->logged_acked = acked;
}

void controller_free(struct controller *controller) {
    free(controller);
}
