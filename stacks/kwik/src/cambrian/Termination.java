package cambrian;

import java.util.concurrent.CountDownLatch;

/** SIGTERM (the end of a trial) and SIGINT, as a latch. */
final class Termination {

    private Termination() {}

    /** The virtual machine's own shutdown then waits for the calling thread, which halts it with its status. */
    static CountDownLatch latch() {
        CountDownLatch latch = new CountDownLatch(1);
        Thread caller = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            latch.countDown();
            try {
                caller.join();
            } catch (InterruptedException over) {
                Thread.currentThread().interrupt();
            }
        }));
        return latch;
    }
}
