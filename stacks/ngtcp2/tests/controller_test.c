/* Lines as the library writes them: lib/ngtcp2_cc.c, ngtcp2_bbr.c, ngtcp2_bbr2.c. */
#include "controller.h"

#undef NDEBUG
#include <assert.h>
#include <stddef.h>
#include <string.h>

static void slow_start_tells_reno_from_cubic_only_in_1_x(void) {
    struct controller newer = {.reno_is_told = true}, older = {0}, cubic = {.reno_is_told = true};
    controller_hears(&newer, "pkn=7 acked, slow start cwnd=15640");
    controller_hears(&older, "pkn=7 acked, slow start cwnd=15640");
    controller_hears(&cubic, "2888 bytes acked, slow start cwnd=15640");
    assert(!strcmp(newer.name, "reno"));
    assert(older.name == NULL);
    assert(!strcmp(cubic.name, "cubic"));
}

static void congestion_avoidance_tells_cubic_in_0_12(void) {
    struct controller controller = {0};
    controller_hears(&controller, "pkn=9 acked, cubic-ca cwnd=187019 t=1 k=2 time_delta=3 delta=4 target=5 w_tcp=6");
    assert(!strcmp(controller.name, "cubic"));
}

static void bbr_tells_its_name_and_state(void) {
    struct controller one = {0}, two = {0};
    controller_hears(&one, "bbr update RTprop=50002000");
    assert(!strcmp(one.name, "bbr"));
    assert(!strcmp(controller_state(&one, 1, 2), "startup"));
    controller_hears(&one, "bbr exit Startup and enter Drain");
    assert(!strcmp(controller_state(&one, 1, 2), "drain"));
    controller_hears(&one, "bbr restart from idle");
    assert(!strcmp(controller_state(&one, 1, 2), "drain"));
    controller_hears(&two, "bbr2 start ProbeBW_CRUISE");
    assert(!strcmp(two.name, "bbr2"));
    assert(!strcmp(controller_state(&two, 1, 2), "probe_bw_cruise"));
}

static void other_lines_say_nothing(void) {
    struct controller controller = {.reno_is_told = true};
    controller_hears(&controller, "tx pkn=3 dcid=0x00 type=1RTT k=0");
    controller_hears(&controller, "latest_rtt=50 min_rtt=50 smoothed_rtt=50");
    assert(controller.name == NULL && controller.reductions == 0);
}

static void cutbacks_are_counted(void) {
    struct controller controller = {0};
    controller_hears(&controller, "reduce cwnd because of packet loss cwnd=170807");
    controller_hears(&controller, "spurious congestion is detected and congestion state is restored cwnd=244000");
    assert(controller.reductions == 1 && controller.undone == 1);
    assert(!strcmp(controller_state(&controller, 10, 20), "slow_start"));
    assert(!strcmp(controller_state(&controller, 20, 20), "congestion_avoidance"));
}

static void a_bbr_has_a_congestion_event_at_each_loss(void) {
    struct controller bbr = {.probe = -1}, cubic = {.probe = -1};
    controller_hears(&bbr, "bbr enter Startup");
    controller_hears(&cubic, "2888 bytes acked, slow start cwnd=15640");
    controller_hears(&bbr, "pkn=7 lost type=1RTT sent_ts=53000000");
    controller_hears(&cubic, "pkn=7 lost type=1RTT sent_ts=53000000");
    assert(controller_events(&bbr) == 1 && bbr.lost == 1);
    assert(controller_events(&cubic) == 0 && cubic.lost == 1);
    controller_hears(&cubic, "reduce cwnd because of packet loss cwnd=170807");
    assert(controller_events(&cubic) == 1);
}

static void a_lost_probe_for_larger_packets_is_no_loss(void) {
    struct controller bbr = {.probe = -1};
    controller_hears(&bbr, "bbr enter Startup");
    controller_hears(&bbr, "sending PMTUD probe packet len=1444");
    controller_hears(&bbr, "tx pkn=12 dcid=0x00 type=1RTT k=0");
    controller_hears(&bbr, "tx pkn=13 dcid=0x00 type=1RTT k=0");
    controller_hears(&bbr, "pkn=12 lost type=1RTT sent_ts=53000000");
    assert(bbr.lost == 0);
    controller_hears(&bbr, "pkn=13 lost type=1RTT sent_ts=53000000");
    assert(bbr.lost == 1);
}

int main(void) {
    slow_start_tells_reno_from_cubic_only_in_1_x();
    congestion_avoidance_tells_cubic_in_0_12();
    bbr_tells_its_name_and_state();
    other_lines_say_nothing();
    cutbacks_are_counted();
    a_bbr_has_a_congestion_event_at_each_loss();
    a_lost_probe_for_larger_packets_is_no_loss();
    return 0;
}
