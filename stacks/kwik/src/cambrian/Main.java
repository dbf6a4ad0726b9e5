package cambrian;

import java.util.Arrays;
import java.util.List;

import tech.kwik.core.KwikVersion;

/** The kwik endpoint of the endpoint contract (docs/endpoint-contract.md), over hq-interop. */
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
            String command = arguments.isEmpty() ? "" : arguments.get(0);
            Options options = new Options(arguments.subList(Math.min(1, arguments.size()), arguments.size()));
            return switch (command) {
                case "server" -> new Server(options, events).run();
                case "client" -> new Client(options, events).run();
                case "describe" -> {
                    events.write("{\"name\": \"kwik\", \"version\": \"" + KwikVersion.getVersion()
                            + "\", \"ccas\": [\"reno\"], \"roles\": [\"server\", \"client\"], \"alpns\": [\"hq-interop\"]}");
                    yield 0;
                }
                default -> throw Refused.usage("say server, client or describe");
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
