import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    static final Set<String> said = ConcurrentHashMap.newKeySet();
    static final Map<String, DefaultMQPushConsumer> pushing = new ConcurrentHashMap<>();

    interface Listener {
        boolean take(MessageExt message, Delay delay) throws Exception;
    }

    interface Delay {
        void level(int level);
    }

    static void run() throws Exception {
        DefaultMQProducer producer = Clients.producer("fate-producer", false);
        send(producer, "warm");
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
            popped("pops", TOPIC, 5000);
            start("pops", "*", 16, (message, delay) -> true);
            wait("DONE pops warm 0");
        }
        wait("DONE works warm 0", "DONE gone warm 0", "FAILED fails warm 0", "FAILED later warm 0",
            "FAILED dies warm 0", "BEGAN hangs warm 0", "DONE pulls warm 0");
        hasQueues("tagged");
        hasQueues("spread");
        send(producer, "first");
        wait("DONE gone first 0");
        hasPassed("gone", 2);
        Thread.sleep(2_000); // a busy broker may store the report before the last one after it
        pushing.remove("gone").shutdown();
        say("GONE");
        send(producer, "second");
        wait("DONE works second 0");
        start("newcomer", "*", 16, (message, delay) -> true);
        hasQueues("newcomer");
        send(producer, "third");
        say("READY");
    }

    static void say(String line) {
        said.add(line);
        Clients.line(line);
    }

    static void wait(String... lines) throws Exception {
        while (!said.containsAll(List.of(lines))) {
            Thread.sleep(50);
        }
    }

    /** It pulls from then on. */
    static void hasQueues(String group) throws Exception {
        while (pushing.get(group).getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable().isEmpty()) {
            Thread.sleep(50);
        }
    }

    /** A message that a listener is done with is not passed at once; a shutdown reports what was passed. */
    static void hasPassed(String group, long offset) throws Exception {
        while (pushing.get(group).getDefaultMQPushConsumerImpl().getOffsetStore().cloneOffsetTable(TOPIC).values()
            .stream().noneMatch(each -> each >= offset)) {
            Thread.sleep(50);
        }
    }

    static void send(DefaultMQProducer producer, String name) throws Exception {
        Message message = new Message(TOPIC, "TagA", name, name.getBytes(StandardCharsets.UTF_8));
        String id = Clients.patiently(() -> producer.send(message)).getMsgId();
        say("SENT " + name + " " + id + " " + System.currentTimeMillis());
    }

    static void start(String group, String tags, int most, Listener listener) throws Exception {
        DefaultMQPushConsumer consumer = Clients.consumer(group, false, null);
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
                    say("BEGAN " + what);
                    if (message.getProperty("POP_CK") != null) {
                        say("POPPED " + what);
                    }
                    boolean done = listener.take(message, context::setDelayLevelWhenNextConsume);
                    say((done ? "DONE " : "FAILED ") + what);
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
        for (Method method : DefaultMQPushConsumer.class.getMethods()) {
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
    static void popped(String group, String topic, long invisible) throws Exception {
        Class<?> kind = Class.forName("org.apache.rocketmq.tools.admin.DefaultMQAdminExt");
        Class mode = Class.forName("org.apache.rocketmq.common.message.MessageRequestMode");
        Object admin = kind.getConstructor().newInstance();
        kind.getMethod("setNamesrvAddr", String.class).invoke(admin, Clients.names);
        kind.getMethod("setInstanceName", String.class).invoke(admin, "admin-" + group);
        kind.getMethod("start").invoke(admin);
        Method set = kind.getMethod("setMessageRequestMode", String.class, String.class, String.class, mode, int.class,
            long.class);
        Clients.patiently(() -> set.invoke(admin, Clients.broker, topic, group, Enum.valueOf(mode, "POP"), 8, invisible));
    }

    static void pull(String group) throws Exception {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(group, Clients.hook);
        consumer.setNamesrvAddr(Clients.names);
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
                    say("DONE " + group + " " + new String(message.getBody(), StandardCharsets.UTF_8) + " 0");
                }
            }
        });
        polling.setDaemon(true);
        polling.start();
    }
}
