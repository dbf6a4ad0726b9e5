package cambrian;

import java.io.PrintStream;
import java.time.Instant;

/** The contract's standard output: one JSON object a line, each flushed. */
final class Events {

    private final PrintStream out;

    Events(PrintStream out) {
        this.out = out;
    }

    /** CLOCK_REALTIME in nanoseconds. */
    static long nowNs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    synchronized void write(String line) {
        out.print(line + "\n");
        out.flush();
    }

    void ready(int port) {
        write("{\"event\": \"ready\", \"role\": \"server\", \"port\": " + port + "}");
    }

    void connected() {
        write("{\"event\": \"connected\", \"time_ns\": " + nowNs() + "}");
    }

    void cca(String requested, String confirmed, String how) {
        write("{\"event\": \"cca\", \"requested\": " + quoted(requested) + ", \"confirmed\": " + quoted(confirmed)
                + ", \"how\": " + quoted(how) + "}");
    }

    void progress(long bytes) {
        write("{\"event\": \"progress\", \"time_ns\": " + nowNs() + ", \"bytes\": " + bytes + "}");
    }

    void stats(long packetsSent, long packetsLost, long bytesSent, long srttMs) {
        write("{\"event\": \"stats\", \"packets_sent\": " + packetsSent + ", \"packets_lost\": " + packetsLost
                + ", \"bytes_sent\": " + bytesSent + ", \"srtt_us\": " + srttMs * 1000 + "}");
    }

    void done(long bytes, boolean complete, String error) {
        write("{\"event\": \"done\", \"time_ns\": " + nowNs() + ", \"bytes\": " + bytes + ", \"complete\": "
                + complete + ", \"error\": " + quoted(error) + "}");
    }

    private static String quoted(String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder json = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                json.append('\\').append(letter);
            } else if (letter < ' ') {
                json.append(String.format("\\u%04x", (int) letter));
            } else {
                json.append(letter);
            }
        }
        return json.append('"').toString();
    }
}
