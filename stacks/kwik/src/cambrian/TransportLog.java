package cambrian;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The contract's CSV file, written in blocks. */
public final class TransportLog {

    private static final String HEADER =
            "time_ns,event,cwnd_bytes,ssthresh_bytes,in_flight_bytes,srtt_us,pacing_bps,state\n";
    private static final int BLOCK_CHARS = 64 << 10;

    private static volatile TransportLog current;

    private final BufferedWriter file;
    private boolean closed;

    private TransportLog(String path) throws IOException {
        file = new BufferedWriter(Files.newBufferedWriter(Path.of(path)), BLOCK_CHARS);
        file.write(HEADER);
    }

    /** Opens the process's log; the connections made from now on write to it. */
    static TransportLog open(String path) throws IOException {
        current = new TransportLog(path);
        return current;
    }

    /** The process's log, or null. */
    public static TransportLog current() {
        return current;
    }

    /** Adds a row at the present time; a smoothed RTT of 0 ms is one that is not known yet. */
    public synchronized void row(String event, long cwndBytes, long inFlightBytes, int srttMs) {
        if (closed) {
            return;
        }
        try {
            file.write(Events.nowNs() + "," + event + "," + cwndBytes + ",," + inFlightBytes + ","
                    + (srttMs == 0 ? "" : srttMs * 1000L) + ",,\n");
        } catch (IOException failure) {
            System.err.println("cambrian-kwik: transport log: " + failure.getMessage());
        }
    }

    synchronized void close() throws IOException {
        closed = true;
        file.close();
    }
}
