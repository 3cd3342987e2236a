import java.util.Map;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.remoting.RPCHook;

/** Every client of one broker in one process; each program prints a line for each thing that it did. */
public class Clients {
    static final int SEND = 60_000; // ms; a message that was given up too early is stored, and sent again
    static String names;
    static String broker;
    static RPCHook hook;

    interface Program {
        void run() throws Exception;
    }

    interface Try<T> {
        T run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        names = arguments[0];
        broker = arguments[1];
        if (arguments.length > 3) {
            hook = new AclClientRPCHook(new SessionCredentials(arguments[3], arguments[4]));
        }
        Map<String, Program> programs =
            Map.of("Tiny", Tiny::run, "Traced", Traced::run, "Consumers", Consumers::run, "Reasons", Reasons::run,
                "Many", Many::run, "Tracks", Tracks::run, "Halted", Halted::run);
        for (String name : arguments[2].split(",")) {
            begin(name, programs.get(name));
        }
        Thread.sleep(1_800_000); // the test ends it: until then its consumers stay connected
        System.exit(0);
    }

    /** What one program cannot do is said; the others go on. */
    static void begin(String name, Program program) {
        new Thread(() -> {
            try {
                program.run();
            } catch (Throwable problem) {
                problem.printStackTrace(System.out);
                line("BROKE", name);
            }
        }).start();
    }

    static DefaultMQProducer producer(String group, boolean traced) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(group, hook, traced, null);
        producer.setNamesrvAddr(names);
        producer.setInstanceName(group);
        producer.setDefaultTopicQueueNums(1);
        producer.setSendMsgTimeout(SEND);
        producer.setMqClientApiTimeout(30_000); // on a busy machine three seconds are not enough
        producer.start();
        return producer;
    }

    static DefaultMQPushConsumer consumer(String group, boolean traced, String topic) {
        DefaultMQPushConsumer consumer =
            new DefaultMQPushConsumer(group, hook, new AllocateMessageQueueAveragely(), traced, topic);
        consumer.setNamesrvAddr(names);
        consumer.setInstanceName(group);
        consumer.setMqClientApiTimeout(30_000);
        consumer.setPollNameServerInterval(2000);
        consumer.setHeartbeatBrokerInterval(2000);
        consumer.setPersistConsumerOffsetInterval(500);
        return consumer;
    }

    /** Once more after an error: the broker may not have registered yet. */
    static <T> T patiently(Try<T> task) throws Exception {
        for (int at = 1;; at++) {
            try {
                return task.run();
            } catch (Exception problem) {
                if (at == 200) {
                    throw problem;
                }
                Thread.sleep(200);
            }
        }
    }

    static synchronized void line(Object... words) {
        StringBuilder made = new StringBuilder();
        for (Object word : words) {
            made.append(made.length() == 0 ? "" : " ").append(word);
        }
        System.out.println(made);
    }
}
