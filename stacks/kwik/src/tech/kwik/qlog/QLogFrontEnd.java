package tech.kwik.qlog;

import cambrian.TransportLog;
import tech.kwik.core.log.NullQLog;

/** What kwik loads, by this name, as a connection's qlog (tech.kwik.core.log.LogProxy): rows for the transport log. */
public final class QLogFrontEnd extends NullQLog {

    private final TransportLog log = TransportLog.current();
    private long cwndBefore;
    private int srttMs;

    /** kwik's convention: one object for each connection, told its original destination connection ID. */
    public QLogFrontEnd(byte[] originalDestinationConnectionId) {}

    /** Called for each packet that is sent, ACK and loss. */
    @Override
    public void emitCongestionControlMetrics(long cwnd, long inFlight) {
        metrics("sample", cwnd, inFlight);
    }

    /** Called at each ACK. */
    @Override
    public void emitRecoveryMetrics(long cwnd, long inFlight, int smoothedMs, int variationMs, int latestMs) {
        srttMs = smoothedMs;
        metrics("ack", cwnd, inFlight);
    }

    /** A smaller cwnd is a congestion event. */
    private synchronized void metrics(String otherwise, long cwnd, long inFlight) {
        if (log == null) {
            return;
        }
        String event = cwndBefore == 0 ? "start" : cwnd < cwndBefore ? "loss" : otherwise;
        cwndBefore = cwnd;
        log.row(event, cwnd, inFlight, srttMs);
    }
}
