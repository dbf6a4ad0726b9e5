package cambrian;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import tech.kwik.core.QuicClientConnection;
import tech.kwik.core.QuicStream;
import tech.kwik.core.log.NullLogger;

/** The receiver: asks for bytes on one or more streams and counts what arrives. */
final class Client {

    static final int MAX_STREAMS = 1024;
    /** Flow-control credit of a stream, from which kwik derives the connection's. */
    private static final long RECEIVE_WINDOW_BYTES = 128L << 20;
    private static final Duration IDLE_TIMEOUT = Duration.ofHours(1);
    private static final Duration CONNECT_TIMEOUT = Duration.ofMinutes(1);
    private static final int READ_BYTES = 64 << 10;

    private final Options options;
    private final Events events;
    private final long total;
    private final int streams;
    private final AtomicLong received = new AtomicLong();
    private final AtomicReference<String> error = new AtomicReference<>();
    private final CountDownLatch stop = Termination.latch();

    Client(Options options, Events events) {
        this.options = options;
        this.events = events;
        total = options.number("bytes", 0, 0, Hq.ENDLESS_BYTES);
        streams = (int) options.number("streams", 1, 1, MAX_STREAMS);
    }

    int run() throws Exception {
        QuicClientConnection connection = QuicClientConnection.newBuilder()
                .uri(URI.create("https://" + options.text("server-name", "cambrian.test") + ":" + options.port("connect")))
                .proxy(options.host("connect")) // the address to send to; the URI's host is the name to ask for
                .applicationProtocol(Options.ALPN)
                .noServerCertificateCheck()
                .maxIdleTimeout(IDLE_TIMEOUT)
                .connectTimeout(CONNECT_TIMEOUT)
                .defaultStreamReceiveBufferSize(RECEIVE_WINDOW_BYTES)
                .socketFactory(peer -> Sockets.bound(new InetSocketAddress(0)))
                .logger(new NullLogger())
                .build();
        Thread fetch = new Thread(() -> fetch(connection), "fetch");
        fetch.setDaemon(true);
        fetch.start();
        while (!stop.await(1, TimeUnit.SECONDS)) {
            events.progress(received.get());
        }
        String failure = error.get(); // closing ends the readers too, which is no failure
        connection.close();
        events.done(received.get(), failure == null && total > 0 && received.get() >= total, failure);
        return failure == null ? 0 : 1;
    }

    private void fetch(QuicClientConnection connection) {
        CountDownLatch open = new CountDownLatch(streams);
        try {
            connection.connect();
            events.connected();
            long wanted = total == 0 ? Hq.ENDLESS_BYTES : total;
            for (int index = 0; index < streams; index++) {
                long share = Hq.share(wanted, streams, index);
                QuicStream stream = connection.createStream(true);
                Thread reader = new Thread(() -> {
                    read(stream, share);
                    open.countDown();
                }, "reader-" + index);
                reader.setDaemon(true);
                reader.start();
            }
            open.await();
        } catch (IOException | InterruptedException failure) {
            error.compareAndSet(null, failure.toString());
        }
        stop.countDown();
    }

    private void read(QuicStream stream, long wanted) {
        try {
            stream.getOutputStream().write(Hq.request(wanted));
            stream.getOutputStream().close();
            InputStream in = stream.getInputStream();
            byte[] buffer = new byte[READ_BYTES];
            long got = 0;
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                got += length;
                received.addAndGet(length);
            }
            if (got != wanted) {
                error.compareAndSet(null, "asked for " + wanted + " bytes, got " + got);
            }
        } catch (IOException failure) {
            error.compareAndSet(null, failure.toString());
        }
    }
}
