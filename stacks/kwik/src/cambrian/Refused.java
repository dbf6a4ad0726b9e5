package cambrian;

/** A command line that cannot be read (status 2) or met (status 127). */
final class Refused extends RuntimeException {

    private static final long serialVersionUID = 1;

    final int status;

    private Refused(int status, String reason) {
        super(reason);
        this.status = status;
    }

    static Refused usage(String reason) {
        return new Refused(2, reason);
    }

    static Refused unsupported(String reason) {
        return new Refused(127, reason);
    }
}
