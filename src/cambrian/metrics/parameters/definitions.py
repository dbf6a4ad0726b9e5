"""The definitions of the verified parameters, with their units."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """``key`` as in estimates; ``title`` and ``unit`` for readers; ``digits`` that it is shown with.

    ``kinds``: for a parameter that is no number, its words; a sample is the index of one. ``fewest``:
    events that a judgement takes; 1 for what a trial shows once, as its start or a sum over it.
    """

    key: str
    title: str
    unit: str
    digits: int
    kinds: tuple[str, ...] = ()
    fewest: int = 4

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the largest possible value; None without both."""
        return (0.0, 1.0) if self.unit == "share" or self.key in _PARTS else None


#: parts of a window
_PARTS = ("beta", "beta_again")
_ALL = (
    # loss-based controllers
    Parameter("beta", "multiplicative decrease β", "", 3),
    Parameter("beta_again", "what is left after a reduction below the last maximum", "", 3),
    # a choice that is said, never blamed; few losses lie below the last maximum without it
    Parameter("fast_convergence", "W_max over the window at a loss below the last maximum", "", 2, fewest=1),
    Parameter("cubic_growth", "the law of growth", "", 0, ("CUBIC's", "another")),
    Parameter("cubic_c", "CUBIC's C", "segments/s³", 2),
    Parameter("cubic_k_s", "CUBIC's K (time back to W_max)", "s", 2),
    Parameter("cubic_k_rule", "where K begins under fast convergence", "", 0, ("window", "β·W_max")),
    Parameter("alpha", "additive increase α", "segments/RTT", 2),
    Parameter("reno_friendly", "never slower than Reno", "", 0, ("yes", "no")),
    Parameter("emulated_connections", "connections that one stands for, N", "", 1),
    Parameter("rollback_share", "share of congestion events taken back", "share", 2),
    Parameter("regrown_share", "share of cuts that grow back within three round trips", "share", 2),
    Parameter("recovery_growth", "share of cuts after which the window grows in recovery", "share", 2),
    Parameter("unexplained_cuts", "share of cuts without a loss or mark", "share", 2),
    # what losses and marks are answered with
    Parameter("losses_answered", "share of loss episodes after which the flight stays lower", "share", 2),
    Parameter("marks_answered", "share of CE episodes after which the flight stays lower", "share", 2),
    Parameter("cuts_per_episode", "times that the window is cut in one loss episode", "", 1),
    Parameter("beyond_window", "share of round trips with more in flight than the window", "share", 2),
    Parameter("max_window_packets", "largest window", "packets", 0, fewest=1),
    # how a connection begins
    Parameter("initial_window_packets", "initial window", "packets", 0, fewest=1),
    Parameter(
        "slow_start_exit", "what ends slow start", "", 0, ("loss", "hystart", "hystart++", "other"), fewest=1
    ),
    # how packets leave, and how they are acknowledged
    Parameter("pacing", "what lets packets go", "", 0, ("unpaced", "paced"), fewest=1),
    Parameter("pacing_factor", "pacing rate over cwnd/sRTT", "", 2),
    Parameter("burst_packets", "packets that leave together", "packets", 1),
    Parameter("ack_every_packets", "packets an ACK", "packets", 2, fewest=1),
    Parameter("packet_threshold", "packets of reordering before a loss", "packets", 0),
    # no estimator yet: bulk transfers have no tails to lose
    Parameter("tail_loss_probes", "tail loss probes", "", 0, ("on", "off"), fewest=1),
    # BBR
    Parameter("startup_gain", "rate of Startup, over that of cruising after it", "", 2, fewest=1),
    Parameter("startup_threshold", "growth a round that keeps Startup going", "", 2, fewest=1),
    Parameter("probe_up_gain", "pacing gain of probing up", "", 3),
    Parameter("probe_down_gain", "pacing gain of draining what was probed", "", 3),
    Parameter("cruise_factor", "pacing rate when cruising, over the bottleneck's rate", "", 3),
    Parameter("cycle_rounds", "length of ProbeBW's cycle", "min RTT", 1),
    Parameter("cwnd_gain", "window in ProbeBW", "BDP", 2, fewest=1),
    Parameter("probe_rtt_interval_s", "time between ProbeRTTs", "s", 1, fewest=2),
    Parameter("probe_rtt_duration_ms", "length of ProbeRTT", "ms", 0, fewest=2),
    Parameter("probe_rtt_packets", "window in ProbeRTT", "packets", 0, fewest=2),
    Parameter("probe_rtt_gain", "window in ProbeRTT, over the BDP", "BDP", 2, fewest=2),
    Parameter("bbr_generation", "how often BBR probes", "", 0, ("BBRv1-like", "BBRv2- or v3-like"), fewest=1),
)

#: key → parameter
PARAMETERS = {parameter.key: parameter for parameter in _ALL}
