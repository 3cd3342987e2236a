import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Consumers that do different things with the same messages; one line for each message sent and each thing done. */
public class Consumers {
    static final String TOPIC = "FateTopic";
    static String names;
    static final Map<String, DefaultMQPushConsumer> pushing = new ConcurrentHashMap<>();

    interface Listener {
        boolean take(MessageExt message, Delay delay) throws Exception;
    }

    interface Delay {
        void level(int level);
    }

    public static void main(String[] arguments) throws Exception {
        try {
            run(arguments[0], arguments[1]);
        } catch (Throwable problem) {
            problem.printStackTrace(System.out);
            System.exit(3);
        }
        Thread.sleep(600_000); // the test ends it: until then its consumers stay connected
        System.exit(0);
    }

    static void run(String server, String broker) throws Exception {
        names = server;
        DefaultMQProducer producer = new DefaultMQProducer("fate-producer");
        producer.setNamesrvAddr(names);
        producer.setInstanceName("fate-producer");
        producer.setDefaultTopicQueueNums(1);
        producer.start();
        send(producer, "warm", 60);
        start("works", "*", 16, (message, delay) -> true);
        start("gone", "*", 16, (message, delay) -> true);
        start("tagged", "TagB || TagC", 16, (message, delay) -> true);
        start("fails", "*", 16, (message, delay) -> {
            delay.level(10);
            return false;
        });
        start("later", "*", 16, (message, delay) -> {
            delay.level(1);
            return message.getReconsumeTimes() > 0;
        });
        start("dies", "*", 1, (message, delay) -> {
            delay.level(1);
            return false;
        });
        start("hangs", "*", 16, (message, delay) -> {
            new CountDownLatch(1).await();
            return true;
        });
        start("spread", "*", 16, (message, delay) -> true);
        pull("pulls");
        if (canPop()) {
            popped(broker, "pops");
            start("pops", "*", 16, (message, delay) -> true);
        }
        Thread.sleep(3_000); // all of them have their queues
        send(producer, "first", 1);
        Thread.sleep(4_000);
        pushing.remove("gone").shutdown();
        System.out.println("GONE");
        Thread.sleep(1_000);
        send(producer, "second", 1);
        Thread.sleep(1_000);
        start("newcomer", "*", 16, (message, delay) -> true);
        Thread.sleep(2_000);
        send(producer, "third", 1);
        System.out.println("READY");
    }

    static void send(DefaultMQProducer producer, String name, int tries) throws Exception {
        for (int at = 1;; at++) {
            try {
                Message message = new Message(TOPIC, "TagA", name, name.getBytes(StandardCharsets.UTF_8));
                System.out.println("SENT " + name + " " + producer.send(message, 5000).getMsgId());
                return;
            } catch (Exception problem) {
                if (at == tries) {
                    throw problem;
                }
                Thread.sleep(500);
            }
        }
    }

    static void start(String group, String tags, int most, Listener listener) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(names);
        consumer.setInstanceName(group);
        consumer.setPollNameServerInterval(1000);
        consumer.setHeartbeatBrokerInterval(1000);
        consumer.setPersistConsumerOffsetInterval(500);
        boolean fresh = group.equals("newcomer");
        consumer.setConsumeFromWhere(
            fresh ? ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET : ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setMaxReconsumeTimes(most);
        if (group.equals("spread")) {
            broadcast(consumer);
        } else if (group.equals("pops")) {
            DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class).invoke(consumer, false);
        }
        consumer.subscribe(TOPIC, tags);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                String what = group + " " + new String(message.getBody(), StandardCharsets.UTF_8) + " "
                    + message.getReconsumeTimes();
                try {
                    System.out.println("BEGAN " + what);
                    if (message.getProperty("POP_CK") != null) {
                        System.out.println("POPPED " + what);
                    }
                    boolean done = listener.take(message, context::setDelayLevelWhenNextConsume);
                    System.out.println((done ? "DONE " : "FAILED ") + what);
                    if (!done) {
                        return ConsumeConcurrentlyStatus.RECONSUME_LATER;
                    }
                } catch (Exception problem) {
                    return ConsumeConcurrentlyStatus.RECONSUME_LATER;
                }
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        pushing.put(group, consumer);
    }

    /** The enum is in another package since 5.0. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static void broadcast(DefaultMQPushConsumer consumer) throws Exception {
        for (java.lang.reflect.Method method : DefaultMQPushConsumer.class.getMethods()) {
            if (method.getName().equals("setMessageModel")) {
                method.invoke(consumer, Enum.valueOf((Class) method.getParameterTypes()[0], "BROADCASTING"));
            }
        }
    }

    /** Only 5.x can; the class is not there before. */
    static boolean canPop() {
        try {
            Class.forName("org.apache.rocketmq.common.message.MessageRequestMode");
            return true;
        } catch (ClassNotFoundException old) {
            return false;
        }
    }

    /** The broker gives this group its messages by POP. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static void popped(String broker, String group) throws Exception {
        Class<?> kind = Class.forName("org.apache.rocketmq.tools.admin.DefaultMQAdminExt");
        Class mode = Class.forName("org.apache.rocketmq.common.message.MessageRequestMode");
        Object admin = kind.getConstructor().newInstance();
        kind.getMethod("setNamesrvAddr", String.class).invoke(admin, names);
        kind.getMethod("setInstanceName", String.class).invoke(admin, "fate-admin");
        kind.getMethod("start").invoke(admin);
        kind.getMethod("setMessageRequestMode", String.class, String.class, String.class, mode, int.class, long.class)
            .invoke(admin, broker, TOPIC, group, Enum.valueOf(mode, "POP"), 8, 5000L);
    }

    static void pull(String group) throws Exception {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(group);
        consumer.setNamesrvAddr(names);
        consumer.setInstanceName(group);
        consumer.setPollNameServerInterval(1000);
        consumer.setPersistConsumerOffsetInterval(500);
        consumer.setAutoCommitIntervalMillis(1000);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(TOPIC, "*");
        consumer.start();
        Thread polling = new Thread(() -> {
            while (true) {
                List<MessageExt> messages = new ArrayList<>(consumer.poll(500));
                for (MessageExt message : messages) {
                    System.out.println("DONE " + group + " " + new String(message.getBody(), StandardCharsets.UTF_8) + " 0");
                }
            }
        });
        polling.setDaemon(true);
        polling.start();
    }
}
