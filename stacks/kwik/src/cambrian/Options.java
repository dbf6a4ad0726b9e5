package cambrian;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The contract's {@code --name value} pairs, checked as they are asked for. */
final class Options {

    static final String ALPN = "hq-interop";
    private static final Set<String> KNOWN = Set.of("listen", "connect", "cca", "cert", "key", "alpn",
            "transport-log", "server-name", "bytes", "streams", "path");

    private final Map<String, String> values = new HashMap<>();

    Options(List<String> arguments) {
        for (int at = 0; at < arguments.size(); at += 2) {
            String flag = arguments.get(at);
            String name = flag.startsWith("--") ? flag.substring(2) : "";
            if (!name.equals("set") && !KNOWN.contains(name)) {
                throw Refused.usage("unexpected argument " + flag);
            }
            if (at + 1 == arguments.size()) {
                throw Refused.usage(flag + " needs a value");
            }
            String value = arguments.get(at + 1);
            if (name.equals("set")) {
                String key = value.split("=", 2)[0];
                throw Refused.usage("--set " + value + ": unknown key \"" + key + "\"; this stack has none");
            }
            values.put(name, value);
        }
        String alpn = text("alpn", ALPN);
        if (!alpn.equals(ALPN)) {
            throw Refused.unsupported("alpn \"" + alpn + "\": this stack speaks " + ALPN);
        }
        if (values.containsKey("path")) {
            throw Refused.usage("--path does not go with hq-interop, which asks for a number of bytes");
        }
    }

    /** A value that must be there. */
    String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw Refused.usage("--" + name + " is missing");
        }
        return value;
    }

    /** A value, or {@code otherwise}, which may be null. */
    String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    long number(String name, long otherwise, long least, long most) {
        String value = values.get(name);
        try {
            long number = value == null ? otherwise : Long.parseLong(value);
            if (least <= number && number <= most) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // told below
        }
        throw Refused.usage("--" + name + " " + value + ": want " + least + " to " + most);
    }

    /** ADDR of an ADDR:PORT. */
    String host(String name) {
        String value = text(name);
        return value.substring(0, Math.max(0, value.lastIndexOf(':')));
    }

    /** PORT of an ADDR:PORT. */
    int port(String name) {
        String value = text(name);
        try {
            return Integer.parseInt(value.substring(value.lastIndexOf(':') + 1));
        } catch (NumberFormatException notANumber) {
            throw Refused.usage("--" + name + " " + value + ": is not ADDR:PORT");
        }
    }
}
