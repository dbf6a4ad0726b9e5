package cambrian;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

import tech.kwik.core.KwikVersion;

/** The kwik endpoint of the endpoint contract (docs/reference/endpoint-contract.md), over hq-interop. */
public final class Main {

    private Main() {}

    /** Runs one role to its end; halting, unlike exiting, does not wait for {@link Termination}. */
    public static void main(String[] arguments) {
        Events events = new Events(System.out);
        System.setOut(System.err); // kwik prints warnings, and events have standard output to themselves
        Runtime.getRuntime().halt(run(Arrays.asList(arguments), events));
    }

    private static int run(List<String> arguments, Events events) {
        try {
            if (arguments.isEmpty()) {
                throw Refused.usage("say server, client or describe");
            }
            String role = arguments.get(0);
            if (!Set.of("server", "client", "describe").contains(role)) {
                throw Refused.unsupported("no role " + role + "; there are: server, client, describe");
            }
            Options options = new Options(arguments.subList(1, arguments.size()));
            return switch (role) {
                case "server" -> new Server(options, events).run();
                case "client" -> new Client(options, events).run();
                default -> {
                    events.write("{\"name\": \"kwik\", \"version\": \"" + KwikVersion.getVersion()
                            + "\", \"ccas\": [\"reno\"], \"roles\": [\"server\", \"client\"], \"alpns\": [\"hq-interop\"]}");
                    yield 0;
                }
            };
        } catch (Refused refused) {
            System.err.println("cambrian-kwik: " + refused.getMessage());
            return refused.status;
        } catch (Exception failure) {
            System.err.println("cambrian-kwik: " + failure);
            return 1;
        }
    }
}
