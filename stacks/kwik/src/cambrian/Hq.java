package cambrian;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** hq-interop, HTTP/0.9 over QUIC: a body of N bytes for {@code GET /N}. */
final class Hq {

    /** What a client asks for when it shall run until SIGTERM. */
    static final long ENDLESS_BYTES = 1_000_000_000_000L;
    private static final int MAX_REQUEST_BYTES = 64;
    private static final String GET = "GET /";

    private Hq() {}

    static byte[] request(long bytes) {
        return (GET + bytes + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** Reads a request line up to its end or the stream's: the number of bytes asked for. */
    static long readRequest(InputStream stream) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int letter = stream.read(); letter >= 0 && letter != '\n'; letter = stream.read()) {
            line.append((char) letter);
            if (line.length() > MAX_REQUEST_BYTES) {
                throw new IOException("request line exceeds " + MAX_REQUEST_BYTES + " bytes");
            }
        }
        String path = line.toString().stripTrailing();
        if (!path.matches(GET + "[0-9]{1,18}")) {
            throw new IOException("not a request for a number of bytes: " + path);
        }
        return Long.parseLong(path.substring(GET.length()));
    }

    /** Stream {@code index}'s part of {@code total}, the first ones taking the remainder. */
    static long share(long total, long streams, long index) {
        return total / streams + (index < total % streams ? 1 : 0);
    }
}
