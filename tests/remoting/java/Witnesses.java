import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.message.MessageRequestMode;
import org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel;
import org.apache.rocketmq.remoting.protocol.subscription.SubscriptionGroupConfig;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Consumers of every kind that log what they did with each message: `GOT|OK|FAIL group msgId offsetMsgId origin tries`.
 * A message is `SENT kind topic msgId offsetMsgId tag n`. `victims` is the process that somebody else kills.
 */
public class Witnesses {
    static final String TOPIC = "Wares", SECOND = "Onward";
    static String names;
    static String broker;
    static DefaultMQAdminExt admin;
    static final Map<String, DefaultMQPushConsumer> pushing = new HashMap<>();
    static final Map<String, DefaultLitePullConsumer> pulling = new HashMap<>();

    interface Listener {
        /** True: done. False: failed. */
        boolean take(MessageExt message) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        names = arguments[0];
        broker = arguments[1];
        if (arguments[2].equals("victims")) {
            push("killed", TOPIC, "*", 16, false, message -> hang(number(message) % 4 == 0));
            push("killed-all", TOPIC, "*", 16, false, message -> hang(true));
            pull("killed-pull", "*", false, true);
        } else {
            witnesses();
        }
        line("READY");
        Thread.sleep(1_800_000);
        System.exit(0);
    }

    static void witnesses() throws Exception {
        admin = new DefaultMQAdminExt();
        admin.setNamesrvAddr(names);
        admin.setInstanceName("admin");
        admin.start();
        DefaultMQProducer producer = new DefaultMQProducer("wares-producer", null, true, null);
        producer.setNamesrvAddr(names);
        producer.setDefaultTopicQueueNums(4);
        producer.setSendMsgTimeout(60_000);
        producer.start();
        for (String topic : List.of(TOPIC, SECOND)) {
            patiently(() -> producer.send(new Message(topic, "TagA", "warm", "0".getBytes())));
        }
        for (String group : List.of("pop-ok", "pop-fails", "pop-hangs", "pop-tag", "pop-reset")) {
            patiently(() -> {
                admin.setMessageRequestMode(broker, TOPIC, group, MessageRequestMode.POP, 8, 5_000);
                return null;
            });
        }
        first();
        Thread.sleep(17_000);
        send(producer, 0, 24);
        Thread.sleep(14_000);
        between();
        Thread.sleep(4_000);
        send(producer, 24, 48);
        Thread.sleep(12_000);
        resets();
    }

    /** Who is there from the beginning. */
    static void first() throws Exception {
        push("ok", TOPIC, "*", 16, false, message -> true);
        push("ok-traced", TOPIC, "*", 16, true, message -> true);
        push("tag-a", TOPIC, "TagA", 16, false, message -> true);
        push("tag-ab", TOPIC, "TagA || TagB", 16, false, message -> true);
        push("sql", TOPIC, "sql:n > 10 AND n < 40", 16, false, message -> true);
        push("fails-once", TOPIC, "*", 16, false, message -> message.getReconsumeTimes() > 0);
        push("fails-odd", TOPIC, "*", 1, true, message -> number(message) % 2 == 0);
        push("dies", TOPIC, "*", 0, false, message -> false);
        push("dies-later", TOPIC, "TagA", 2, true, message -> false);
        push("waits", TOPIC, "*", 16, false, message -> false);
        SubscriptionGroupConfig dropping = new SubscriptionGroupConfig();
        dropping.setGroupName("drops");
        dropping.setRetryQueueNums(0);
        admin.createAndUpdateSubscriptionGroupConfig(broker, dropping);
        push("drops", TOPIC, "*", 16, false, message -> number(message) % 2 == 0);
        push("hangs-some", TOPIC, "*", 16, false, message -> hang(number(message) % 8 == 3));
        push("hangs-traced", TOPIC, "TagB", 16, true, message -> hang(number(message) % 4 == 1));
        push("slow", TOPIC, "*", 16, false, message -> {
            Thread.sleep(900);
            return true;
        });
        push("leaves", TOPIC, "*", 16, false, message -> true);
        push("leaves-tag", TOPIC, "TagB", 16, false, message -> true);
        push("changes", TOPIC, "TagA", 16, false, message -> true);
        push("changes-live", TOPIC, "TagA", 16, false, message -> true);
        push("changes-hangs", TOPIC, "TagA", 16, false, message -> hang(number(message) == 8));
        push("reset-on", TOPIC, "*", 16, false, message -> hang(number(message) == 30));
        push("reset-off", TOPIC, "*", 16, false, message -> hang(number(message) == 20));
        push("reset-back", TOPIC, "*", 16, false, message -> true);
        push("reset-full", TOPIC, "*", 16, false, message -> hang(true));
        push("pop-reset", TOPIC, "*", 16, false, message -> hang(true));
        push("both", TOPIC, "*", 16, true, message -> true);
        push("both2", SECOND, "*", 1, true, message -> false);
        push("second", SECOND, "*", 16, true, message -> true);
        push("pop-ok", TOPIC, "*", 16, false, message -> true);
        push("pop-fails", TOPIC, "*", 2, false, message -> number(message) % 3 != 0);
        push("pop-hangs", TOPIC, "*", 16, false, message -> hang(number(message) % 6 == 1));
        push("pop-tag", TOPIC, "TagA", 16, false, message -> true);
        batch("batch", 0);
        batch("batch-half", 16);
        orderly("orderly", -1);
        orderly("orderly-stuck", 26);
        spread("spread");
        pull("pull", "*", false, true);
        pull("pull-tag", "TagB", false, true);
        pull("pull-leaves-tag", "TagA", false, true);
        pullOld("pull-old", "TagB");
        pull("pull-assigned", "*", true, true);
        pull("pull-uncommitted", "*", true, false);
        space("ns");
    }

    /** What changes between two halves. */
    static void between() throws Exception {
        for (String group : List.of("leaves", "leaves-tag", "changes", "reset-off")) {
            pushing.get(group).shutdown();
            line("GONE", group);
        }
        push("changes", TOPIC, "TagB", 16, false, message -> true);
        pulling.get("pull-leaves-tag").shutdown();
        pull("pull-leaves-tag", "TagB", false, true);
        pushing.get("changes-live").subscribe(TOPIC, "TagB");
        pushing.get("changes-hangs").subscribe(TOPIC, "TagB");
        push("newcomer", TOPIC, "*", 16, false, message -> true);
        SubscriptionGroupConfig shut = new SubscriptionGroupConfig();
        shut.setGroupName("slow");
        shut.setConsumeEnable(true);
        shut.setRetryMaxTimes(3);
        admin.createAndUpdateSubscriptionGroupConfig(broker, shut);
        SubscriptionGroupConfig closed = new SubscriptionGroupConfig();
        closed.setGroupName("closed");
        closed.setConsumeEnable(false);
        admin.createAndUpdateSubscriptionGroupConfig(broker, closed);
        push("closed", TOPIC, "*", 16, false, message -> true);
    }

    static void resets() throws Exception {
        pulling.get("pull-leaves-tag").shutdown();
        long now = System.currentTimeMillis() + 60_000;
        for (String group : List.of("reset-on", "reset-off", "reset-full", "pop-reset")) {
            try {
                admin.resetOffsetByTimestamp(TOPIC, group, now, true);
            } catch (Exception offline) {
                admin.resetOffsetByTimestampOld(group, TOPIC, now, true);
            }
            line("RESET", group);
        }
        admin.resetOffsetByTimestamp(TOPIC, "reset-back", now - 75_000, true);
        line("RESET", "reset-back");
    }

    // ---- messages

    static void send(DefaultMQProducer producer, int from, int to) throws Exception {
        List<Message> packed = new ArrayList<>();
        for (int n = from; n < to; n++) {
            String tag = new String[] {"TagA", "TagB", "TagC", ""}[n % 4];
            Message message = message(n, tag, TOPIC);
            if (n % 12 == 5 || n % 12 == 9) {
                packed.add(message);
                continue;
            }
            if (n % 12 == 7) {
                message.setDelayTimeLevel(1);
            }
            said(n % 12 == 7 ? "delayed" : "plain", TOPIC, producer.send(message), tag, n);
            if (n % 12 == 8) { // the same object once more: the broker stores it twice under one msgId
                said("again", TOPIC, producer.send(message), tag, n);
            }
            if (n % 6 == 4) { // and on to another topic
                message.setTopic(SECOND);
                said("onward", SECOND, producer.send(message), tag, n);
            }
        }
        packed.add(message(to - 1, "TagA", TOPIC));
        SendResult sent = producer.send(packed);
        String[] ids = sent.getMsgId().split(","), places = sent.getOffsetMsgId().split(",");
        for (int at = 0; at < ids.length; at++) {
            Message one = packed.get(at);
            line("SENT", "batch", TOPIC, ids[at], places[at], one.getTags(), one.getUserProperty("n"));
        }
        Message own = new Message("ns%" + TOPIC, "TagA", "own" + from, "1".getBytes());
        said("space", "ns%" + TOPIC, producer.send(own), "TagA", 1);
    }

    static Message message(int n, String tag, String topic) {
        Message made = new Message(topic, tag.isEmpty() ? null : tag, "key" + n, ("" + n).getBytes(StandardCharsets.UTF_8));
        made.putUserProperty("n", "" + n);
        return made;
    }

    static void said(String kind, String topic, SendResult sent, String tag, int n) {
        line("SENT", kind, topic, sent.getMsgId(), sent.getOffsetMsgId(), tag.isEmpty() ? "-" : tag, n);
    }

    // ---- consumers

    static DefaultMQPushConsumer made(String group, boolean traced) {
        DefaultMQPushConsumer made =
            new DefaultMQPushConsumer(group, null, new AllocateMessageQueueAveragely(), traced, null);
        made.setNamesrvAddr(names);
        made.setInstanceName(group);
        made.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        made.setPollNameServerInterval(1_000);
        made.setHeartbeatBrokerInterval(1_000);
        made.setConsumeThreadMin(6);
        made.setConsumeThreadMax(6);
        return made;
    }

    static void push(String group, String topic, String filter, int most, boolean traced, Listener listener)
        throws Exception {
        DefaultMQPushConsumer made = made(group, traced);
        made.setMaxReconsumeTimes(most);
        if (group.equals("newcomer")) {
            made.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET);
        }
        if (group.startsWith("pop")) {
            made.setClientRebalance(false);
        }
        if (group.equals("reset-full")) { // what it has in memory is as much as it may have: it asks for no more
            made.setPullBatchSize(2);
            made.setPullThresholdForQueue(2);
        }
        if (group.equals("pop-reset")) {
            made.setPopBatchNums(2);
            made.setPopThresholdForQueue(2);
        }
        if (filter.startsWith("sql:")) {
            made.subscribe(topic, MessageSelector.bySql(filter.substring(4)));
        } else {
            made.subscribe(topic, filter);
        }
        made.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            if (group.equals("waits")) {
                context.setDelayLevelWhenNextConsume(10);
            } else {
                context.setDelayLevelWhenNextConsume(1);
            }
            for (MessageExt message : messages) {
                if (!one(group, message, listener)) {
                    return ConsumeConcurrentlyStatus.RECONSUME_LATER;
                }
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        start(group, made);
    }

    static void start(String group, DefaultMQPushConsumer made) throws Exception {
        patiently(() -> {
            made.start();
            return null;
        });
        pushing.put(group, made);
    }

    static boolean one(String group, MessageExt message, Listener listener) {
        event("GOT", group, message);
        try {
            boolean done = listener.take(message);
            event(done ? "OK" : "FAIL", group, message);
            return done;
        } catch (Exception problem) {
            event("FAIL", group, message);
            return false;
        }
    }

    /** Several messages a call; from a number on only the first of each call is acknowledged. */
    static void batch(String group, int from) throws Exception {
        DefaultMQPushConsumer made = made(group, false);
        made.setConsumeMessageBatchMaxSize(8);
        made.subscribe(TOPIC, "*");
        made.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            context.setDelayLevelWhenNextConsume(10);
            for (MessageExt message : messages) {
                event("GOT", group, message);
            }
            boolean half = from > 0 && messages.stream().anyMatch(each -> number(each) >= from);
            context.setAckIndex(half ? 0 : messages.size() - 1);
            for (int at = 0; at < messages.size(); at++) {
                event(half && at > 0 ? "FAIL" : "OK", group, messages.get(at));
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        start(group, made);
    }

    static void orderly(String group, int stuckAt) throws Exception {
        DefaultMQPushConsumer made = made(group, false);
        made.subscribe(TOPIC, "*");
        made.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            for (MessageExt message : messages) {
                event("GOT", group, message);
                if (number(message) == stuckAt) {
                    context.setSuspendCurrentQueueTimeMillis(500);
                    return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
                }
                event("OK", group, message);
            }
            return ConsumeOrderlyStatus.SUCCESS;
        });
        start(group, made);
    }

    static void spread(String group) throws Exception {
        DefaultMQPushConsumer made = made(group, false);
        made.setMessageModel(MessageModel.BROADCASTING);
        made.subscribe(TOPIC, "*");
        made.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(message -> one(group, message, each -> true));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        start(group, made);
    }

    /** A client with a namespace: the broker knows `ns%spaced` and `ns%Wares`. */
    static void space(String space) throws Exception {
        DefaultMQPushConsumer made = made("ok", true);
        made.setNamespace(space);
        made.setInstanceName("spaced");
        made.subscribe(TOPIC, "*");
        made.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            context.setDelayLevelWhenNextConsume(10);
            messages.forEach(message -> one(space + "%ok", message, each -> false));
            return ConsumeConcurrentlyStatus.RECONSUME_LATER;
        });
        start("spaced", made);
    }

    static void pull(String group, String tags, boolean assigned, boolean commits) throws Exception {
        DefaultLitePullConsumer made = new DefaultLitePullConsumer(group);
        made.setNamesrvAddr(names);
        made.setInstanceName(group);
        made.setPollNameServerInterval(1_000);
        made.setHeartbeatBrokerInterval(1_000);
        made.setAutoCommit(commits);
        made.setAutoCommitIntervalMillis(1_000);
        made.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        if (!assigned) {
            made.subscribe(TOPIC, tags);
        }
        made.start();
        pulling.put(group, made);
        if (assigned) {
            List<MessageQueue> queues = new ArrayList<>(patiently(() -> made.fetchMessageQueues(TOPIC)));
            made.assign(queues);
            for (MessageQueue queue : queues) {
                made.seekToBegin(queue);
            }
        }
        Thread polling = new Thread(() -> {
            while (made.isRunning()) {
                for (MessageExt message : new ArrayList<>(made.poll(500))) {
                    one(group, message, each -> true);
                }
            }
        });
        polling.setDaemon(true);
        polling.start();
    }

    /** The deprecated pull consumer: its heartbeats say that it wants all messages, and each pull has a filter. */
    static void pullOld(String group, String tags) throws Exception {
        DefaultMQPullConsumer made = new DefaultMQPullConsumer(group);
        made.setNamesrvAddr(names);
        made.setInstanceName(group);
        made.setHeartbeatBrokerInterval(60_000);
        made.setRegisterTopics(new HashSet<>(List.of(TOPIC)));
        made.start();
        List<MessageQueue> queues = new ArrayList<>(patiently(() -> made.fetchSubscribeMessageQueues(TOPIC)));
        Thread pulls = new Thread(() -> {
            while (true) {
                try {
                    for (MessageQueue queue : queues) {
                        long begin = Math.max(0, made.fetchConsumeOffset(queue, true));
                        PullResult found = made.pull(queue, tags, begin, 32);
                        for (MessageExt message : found.getMsgFoundList() == null ? List.<MessageExt>of()
                            : found.getMsgFoundList()) {
                            one(group, message, each -> true);
                        }
                        made.getDefaultMQPullConsumerImpl().getOffsetStore()
                            .updateConsumeOffsetToBroker(queue, found.getNextBeginOffset(), false);
                    }
                    Thread.sleep(200);
                } catch (Exception problem) {
                    line("PROBLEM", group, problem);
                }
            }
        });
        pulls.setDaemon(true);
        pulls.start();
    }

    // ---- saying it

    static boolean hang(boolean hangs) throws Exception {
        if (hangs) {
            new CountDownLatch(1).await();
        }
        return true;
    }

    static int number(MessageExt message) {
        return Integer.parseInt(new String(message.getBody(), StandardCharsets.UTF_8));
    }

    static void event(String what, String group, MessageExt message) {
        String unique = message.getProperty("UNIQ_KEY"), origin = message.getProperty("ORIGIN_MESSAGE_ID");
        String place = message instanceof org.apache.rocketmq.common.message.MessageClientExt
            ? ((org.apache.rocketmq.common.message.MessageClientExt) message).getOffsetMsgId() : message.getMsgId();
        line(what, group, unique, place, origin == null ? "-" : origin, message.getReconsumeTimes(),
            System.currentTimeMillis());
    }

    interface Try<T> {
        T run() throws Exception;
    }

    static <T> T patiently(Try<T> task) throws Exception {
        for (int at = 1;; at++) {
            try {
                return task.run();
            } catch (Exception problem) {
                if (at == 100) {
                    throw problem;
                }
                Thread.sleep(200); // the broker may not have registered yet
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
