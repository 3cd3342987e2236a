import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/** Groups that do not get a message, each for one reason; transactions with each end; messages for a later time. */
public class Reasons {
    static final String TOPIC = "Reasons";
    static final Set<String> done = ConcurrentHashMap.newKeySet();
    static final DefaultMQAdminExt admin = new DefaultMQAdminExt(Clients.hook);
    static DefaultMQProducer producer;

    static void run() throws Exception {
        admin.setNamesrvAddr(Clients.names);
        admin.setInstanceName("reasons-admin");
        admin.start();
        producer = Clients.producer("reasons-producer", false);
        send(TOPIC, "early");
        transactions();
        send("Closed", "closed");
        has("reads", "Closed", 0);
        Clients.patiently(() -> {
            // A registration with an older list may come later, and the broker does nothing for a topic that is so already.
            for (int permission : new int[] {6, 2}) {
                admin.createAndUpdateTopicConfig(Clients.broker, new TopicConfig("Closed", 1, 1, permission));
            }
            Thread.sleep(100);
            if (admin.examineTopicRouteInfo("Closed").getQueueDatas().get(0).getPerm() != 2) {
                throw new IllegalStateException("the name server does not have it yet");
            }
            return null;
        });
        for (String group : new String[] {"disabled", "elsewhere", "choosy", "twins"}) {
            has(group, TOPIC, 0);
        }
        settings("disabled", false);
        DefaultMQPushConsumer sql = Clients.consumer("sql", false, null);
        sql.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        sql.subscribe(TOPIC, MessageSelector.bySql("a > 5"));
        listen(sql, "sql");
        start("elsewhere", "elsewhere", TOPIC + "Tx", "*", false);
        start("choosy", "choosy", TOPIC, "TagB", true);
        start("fresh", "fresh", TOPIC, "*", true);
        start("lingers", "lingers", TOPIC, "*", false);
        ordered("orderly", true);
        ordered("refuses", false);
        twins();
        if (Consumers.canPop()) {
            Consumers.popped("unacked", TOPIC, 5000);
            start("unacked", "unacked", TOPIC, "*", false);
            await("unacked early 0");
        }
        await("lingers early 0", "orderly early 0", "refuses early 0");
        send(TOPIC, "judged");
        backlog();
        later();
        await("lingers judged 1", "orderly judged 0");
        Clients.line("REASONS");
    }

    static void await(String... what) throws Exception {
        while (!done.containsAll(List.of(what))) {
            Thread.sleep(50);
        }
    }

    static void send(String topic, String name) throws Exception {
        Message message = new Message(topic, "TagA", name, name.getBytes(StandardCharsets.UTF_8));
        String id = Clients.patiently(() -> producer.send(message)).getMsgId();
        Clients.line("SENT", name, id, System.currentTimeMillis());
    }

    /** Gives a group an offset, as a consumer that is gone has left it. */
    static void has(String group, String topic, long offset) throws Exception {
        settings(group, true);
        MessageQueue queue = new MessageQueue(topic, "alone", 0);
        Clients.patiently(() -> {
            admin.updateConsumeOffset(Clients.broker, group, queue, offset);
            return null;
        });
    }

    /** The class of the settings is in another package since 5.0. */
    static void settings(String group, boolean enabled) throws Exception {
        for (Method method : DefaultMQAdminExt.class.getMethods()) {
            if (method.getName().equals("createAndUpdateSubscriptionGroupConfig")) {
                Class<?> kind = method.getParameterTypes()[1];
                Object config = kind.getConstructor().newInstance();
                kind.getMethod("setGroupName", String.class).invoke(config, group);
                kind.getMethod("setConsumeEnable", boolean.class).invoke(config, enabled);
                Clients.patiently(() -> method.invoke(admin, Clients.broker, config));
            }
        }
    }

    static DefaultMQPushConsumer start(String group, String instance, String topic, String tags, boolean paused)
        throws Exception {
        DefaultMQPushConsumer consumer = Clients.consumer(group, false, null);
        consumer.setInstanceName(instance);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, tags);
        if (group.equals("unacked")) {
            DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class).invoke(consumer, false);
            DefaultMQPushConsumer.class.getMethod("setPopInvisibleTime", long.class).invoke(consumer, 5000L);
            consumer.setMaxReconsumeTimes(1_000); // after the last one it would be acknowledged
        }
        if (paused) {
            consumer.suspend();
        }
        listen(consumer, group);
        return consumer;
    }

    static void listen(DefaultMQPushConsumer consumer, String group) throws Exception {
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            MessageExt message = messages.get(0);
            did(group, message);
            boolean again = message.getReconsumeTimes() > 0;
            if (group.equals("unacked")) {
                pause(7_000); // longer than it may: no acknowledgement is sent, and the thread is free for the next copy
            } else if (group.equals("lingers") && again) {
                hang();
            }
            context.setDelayLevelWhenNextConsume(1);
            return group.equals("lingers") ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
    }

    static void did(String group, MessageExt message) {
        String what = group + " " + new String(message.getBody(), StandardCharsets.UTF_8) + " "
            + message.getReconsumeTimes();
        if (done.add(what)) {
            Clients.line("GOT", what);
        }
    }

    static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    static void hang() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    static void ordered(String group, boolean takes) throws Exception {
        DefaultMQPushConsumer consumer = Clients.consumer(group, false, null);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(TOPIC, "*");
        consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            did(group, messages.get(0));
            return takes ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
        });
        consumer.start();
    }

    /** Two clients with one client id, as two containers have it whose address and pid are equal. */
    static void twins() throws Exception {
        DefaultMQPushConsumer first = start("twins", "twins", TOPIC, "*", true);
        MQClientManager.getInstance().removeClientFactory(
            first.getDefaultMQPushConsumerImpl().getmQClientFactory().getClientId());
        start("twins", "twins", TOPIC, "*", true);
    }

    /** More messages than one slow consumer takes while the tests run. */
    static void backlog() throws Exception {
        for (int at = 0; at < 1500; at++) {
            Message message = new Message("Backlog", ("backlog " + at).getBytes(StandardCharsets.UTF_8));
            Clients.patiently(() -> producer.send(message));
        }
        send("Backlog", "backlog");
        for (String tag : new String[] {"TagA", "TagB"}) {  // the broker keeps the subscription of the last to say it
            start("split", "split-" + tag, "Backlog", tag, false);
        }
        DefaultMQPushConsumer consumer = Clients.consumer("slow", false, null);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPullBatchSize(1);
        consumer.setPullThresholdForQueue(1);
        consumer.setConsumeThreadMin(1);
        consumer.setConsumeThreadMax(1);
        consumer.subscribe("Backlog", "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            pause(500);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
    }

    static void transactions() throws Exception {
        TransactionMQProducer deciding = transacting("deciding");
        half(deciding, "committed", LocalTransactionState.COMMIT_MESSAGE);
        half(deciding, "rolled_back", LocalTransactionState.ROLLBACK_MESSAGE);
        half(transacting("wavering"), "asked", LocalTransactionState.UNKNOW);
        TransactionMQProducer vanishing = transacting("vanishing");
        half(vanishing, "left_open", LocalTransactionState.UNKNOW);
        vanishing.shutdown();
        Clients.line("TRANSACTIONS");
    }

    static TransactionMQProducer transacting(String group) throws Exception {
        TransactionMQProducer made = new TransactionMQProducer(group, Clients.hook);
        made.setNamesrvAddr(Clients.names);
        made.setInstanceName(group);
        made.setSendMsgTimeout(Clients.SEND);
        made.setHeartbeatBrokerInterval(1000);
        made.setTransactionListener(new TransactionListener() {
            public LocalTransactionState executeLocalTransaction(Message message, Object state) {
                return (LocalTransactionState) state;
            }

            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                return LocalTransactionState.UNKNOW;
            }
        });
        made.start();
        return made;
    }

    static void half(TransactionMQProducer by, String name, LocalTransactionState state) throws Exception {
        Message message = new Message(TOPIC + "Tx", "TagA", name, name.getBytes(StandardCharsets.UTF_8));
        String id = Clients.patiently(() -> by.sendMessageInTransaction(message, state)).getMsgId();
        Clients.line("SENT", name, id, System.currentTimeMillis());
    }

    /** A level is of both lines; only 5.x has a timer, and only 5.3.2 and later take a message back. */
    static void later() throws Exception {
        Message level = new Message(TOPIC + "Later", "TagA", "level", "level".getBytes(StandardCharsets.UTF_8));
        level.setDelayTimeLevel(10);
        String levelId = Clients.patiently(() -> producer.send(level)).getMsgId();
        Clients.line("SENT", "level", levelId, System.currentTimeMillis());
        if (!Consumers.canPop()) {
            return;
        }
        Method delay = Message.class.getMethod("setDelayTimeMs", long.class);
        for (String name : new String[] {"timer", "delivered", "recalled"}) {
            Message message = new Message(TOPIC + "Later", "TagA", name, name.getBytes(StandardCharsets.UTF_8));
            delay.invoke(message, name.equals("delivered") ? 1_000L : name.equals("recalled") ? 20_000L : 3_600_000L);
            Object result = Clients.patiently(() -> producer.send(message));
            String id = (String) result.getClass().getMethod("getMsgId").invoke(result);
            if (name.equals("recalled")) {
                Object handle = result.getClass().getMethod("getRecallHandle").invoke(result);
                Method recall = DefaultMQProducer.class.getMethod("recallMessage", String.class, String.class);
                Clients.patiently(() -> recall.invoke(producer, TOPIC + "Later", handle));
            }
            Clients.line("SENT", name, id, System.currentTimeMillis());
        }
    }
}
