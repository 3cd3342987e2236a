import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.BrokerStartup;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** A real broker of which a part halts while a file with the part's name is in its folder; it prints each change. */
public class Haltable {
    static final String[] PARTS = {"delays", "wheel"};
    static final Map<String, Integer> answered = new ConcurrentHashMap<>();
    static BrokerController broker;

    public static void main(String[] arguments) throws Exception {
        broker = BrokerStartup.createBrokerController(arguments);
        // The thread that builds queues and indexes waits here, as it does for a disk that is too slow.
        broker.getMessageStore().getDispatcherList().addFirst(request -> await("dispatch"));
        broker.getRemotingServer().registerRPCHook(new RPCHook() {
            public void doBeforeRequest(String address, RemotingCommand request) {
                refuse(request);
            }

            public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
                // answers are the broker's own
            }
        });
        BrokerStartup.start(broker);
        boolean[] halted = new boolean[PARTS.length];
        while (true) {
            for (int at = 0; at < PARTS.length; at++) {
                if (Files.exists(Path.of(PARTS[at])) != halted[at]) {
                    halted[at] = !halted[at];
                    halt(PARTS[at], halted[at]);
                    System.out.println((halted[at] ? "HALTED " : "GOES ON ") + PARTS[at]);
                }
            }
            Thread.sleep(20);
        }
    }

    static void await(String part) {
        try {
            while (Files.exists(Path.of(part))) {
                Thread.sleep(10);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Classes and packages differ between the releases. */
    static void halt(String part, boolean on) throws Exception {
        if (part.equals("delays")) {
            Object owner = Consumers.canPop() ? broker : broker.getMessageStore();
            Object service = owner.getClass().getMethod("getScheduleMessageService").invoke(owner);
            service.getClass().getMethod(on ? "shutdown" : "start").invoke(service);
        } else {
            Field field = MessageStoreConfig.class.getDeclaredField("timerStopDequeue");  // has no setter
            field.setAccessible(true);
            field.set(broker.getMessageStoreConfig(), on);
        }
    }

    /** Lines of the file `refused`: CODE, a value of the request or `*`, how many are answered before, and what then. */
    static void refuse(RemotingCommand request) {
        Path file = Path.of("refused");
        if (!Files.exists(file)) {
            answered.clear();
            return;
        }
        try {
            for (String line : Files.readAllLines(file)) {
                String[] words = line.split(" ");
                Map<String, String> fields = request.getExtFields() == null ? Map.of() : request.getExtFields();
                boolean meant = words[1].equals("*") || fields.containsValue(words[1]);
                if (request.getCode() == Integer.parseInt(words[0]) && meant
                    && answered.merge(line, 1, Integer::sum) > Integer.parseInt(words[2])) {
                    if (words[3].equals("silent")) {
                        await("refused");
                    }
                    throw new IllegalStateException("refused: " + line);
                }
            }
        } catch (java.io.IOException problem) {
            throw new IllegalStateException(problem);
        }
    }
}
