package cambrian;

import java.lang.reflect.Field;

import tech.kwik.core.QuicConnection;
import tech.kwik.core.cc.NewRenoCongestionController;
import tech.kwik.core.send.SenderImpl;

/** Reads back which congestion controller a connection runs. */
final class Controller {

    static final String HOW = "the class of kwik's own object connection.sender.congestionController";

    private Controller() {}

    /** "reno", or null where kwik's fields are not those of the release that this was written for. */
    static String name(QuicConnection connection) {
        for (Class<?> type = connection.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Field field = type.getDeclaredField("sender");
                field.setAccessible(true);
                boolean reno = field.get(connection) instanceof SenderImpl sender
                        && sender.getCongestionController() instanceof NewRenoCongestionController;
                return reno ? "reno" : null;
            } catch (NoSuchFieldException above) {
                continue;
            } catch (IllegalAccessException refused) {
                return null;
            }
        }
        return null;
    }
}
