import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.BrokerStartup;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** A real broker whose queues or delays halt while a file of that name is in its folder; it prints a change of the delays. */
public class Haltable {
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
        boolean halted = false;
        while (true) {
            if (Files.exists(Path.of("delays")) != halted) {
                halted = !halted;
                haltDelays(halted);
                System.out.println((halted ? "HALTED" : "GOES ON") + " delays");
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
    static void haltDelays(boolean on) throws Exception {
        Object owner = Consumers.canPop() ? broker : broker.getMessageStore();
        Object service = owner.getClass().getMethod("getScheduleMessageService").invoke(owner);
        service.getClass().getMethod(on ? "shutdown" : "start").invoke(service);
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
