import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.subscription.SubscriptionGroupConfig;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/** Sends messages of every kind with the real client, then looks each up as mqadmin does; one JSON line for each. */
public class Sender {
    static PrintStream out;
    static DefaultMQAdminExt admin;
    static RPCHook hook;
    /** Where the log of broker b begins: boot.py takes its first files away. */
    static final long FIRST = 2 << 20;
    static final List<String[]> sent = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        try {
            run(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
        } catch (Throwable problem) {
            problem.printStackTrace();
            System.exit(3);
        }
        System.exit(0);
    }

    static void run(String names, String access, String secret, String brokerA, String brokerB, String file)
        throws Exception {
        out = new PrintStream(file, "UTF-8");
        hook = new AclClientRPCHook(new SessionCredentials(access, secret));
        admin = new DefaultMQAdminExt(hook, 8000);
        admin.setNamesrvAddr(names);
        admin.setInstanceName("admin");
        admin.start();
        topic(brokerA, "Orders");
        topic(brokerB, "Notices");
        topic(brokerA, "Both");
        topic(brokerB, "Both");
        topic(brokerB, "Filler");
        SubscriptionGroupConfig group = new SubscriptionGroupConfig();
        group.setGroupName("readers");
        admin.createAndUpdateSubscriptionGroupConfig(brokerA, group);
        for (int wait = 0; wait < 100 && !routed("Orders", "Notices", "Both", "Filler"); wait++) {
            Thread.sleep(100);
        }
        DefaultMQProducer producer = new DefaultMQProducer("senders", hook);
        producer.setNamesrvAddr(names);
        producer.setInstanceName("producer");
        producer.start();
        DefaultMQProducer filler = new DefaultMQProducer("fillers", hook);
        filler.setNamesrvAddr(names);
        filler.setInstanceName("filler");
        filler.setCompressMsgBodyOverHowmuch(1 << 30);
        filler.start();
        fill(filler, 4); // the third does not fit in the first file, which ends with a blank record
        for (long offset : new long[] {0, 100, FIRST - 1}) {
            InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(brokerB.split(":")[1]));
            sent.add(new String[] {"deleted", "Filler", null, MessageDecoder.createMessageId(address, offset)});
        }
        for (String topic : new String[] {"Orders", "Notices", "Both"}) {
            plain(producer, topic);
        }
        set(brokerA, "messageIndexEnable", "false");
        for (int at = 0; at < 2; at++) {
            send("unindexed", producer, new Message("Orders", bytes("not in the index " + at)));
        }
        Thread.sleep(300);
        set(brokerA, "messageIndexEnable", "true");
        batch(producer, "batch", 5);
        batch(producer, "large_batch", 40);
        held(names);
        for (int level = 1; level <= 2; level++) {
            Message message = new Message("Orders", "delay", "delay-" + level, bytes("later " + level));
            message.setDelayTimeLevel(level);
            send("delay", producer, message);
        }
        transactions(names);
        sendBack(names);
        Thread.sleep(2500); // delays and retries are delivered, the index is written
        for (String[] item : sent) {
            look(item);
        }
        out.close();
        mqadmin(names, file);
    }

    /** What mqadmin prints of the second message with keys of broker b, by both of its ids. */
    static void mqadmin(String names, String file) throws Exception {
        PrintStream before = System.out;
        String[] item = sent.stream().filter(each -> each[0].equals("keys") && each[1].equals("Notices"))
            .skip(1).findFirst().get();
        for (String[] command : new String[][] {{"queryMsgById", item[3]}, {"queryMsgByUniqueKey", item[2]}}) {
            try (PrintStream printed = new PrintStream(file + "." + command[0], "UTF-8")) {
                System.setOut(printed);
                MQAdminStartup.main(new String[] {command[0], "-i", command[1], "-t", "Notices", "-n", names});
            } finally {
                System.setOut(before);
            }
        }
    }

    static void topic(String broker, String name) throws Exception {
        TopicConfig config = new TopicConfig(name, 4, 4, 6);
        admin.createAndUpdateTopicConfig(broker, config);
    }

    static void set(String broker, String name, String value) throws Exception {
        Properties properties = new Properties();
        properties.setProperty(name, value);
        admin.updateBrokerConfig(broker, properties);
    }

    /** Messages of 400 KB: two fit in a file of 1 MiB. */
    static void fill(DefaultMQProducer producer, int count) throws Exception {
        byte[] body = new byte[400 * 1024];
        new Random(count).nextBytes(body);
        for (int at = 0; at < count; at++) {
            send("filler", producer, new Message("Filler", body));
        }
    }

    static boolean routed(String... topics) {
        try {
            for (String topic : topics) {
                int wanted = topic.equals("Both") ? 2 : 1;
                if (admin.examineTopicRouteInfo(topic).getBrokerDatas().size() < wanted) {
                    return false;
                }
            }
            return true;
        } catch (Exception notYet) {
            return false;
        }
    }

    static void plain(DefaultMQProducer producer, String topic) throws Exception {
        for (int at = 0; at < 20; at++) {
            send("plain", producer, new Message(topic, bytes("plain " + at + " of " + topic)));
        }
        for (int at = 0; at < 10; at++) {
            Message message = new Message(topic, at % 2 == 0 ? "TagA" : "标签", "order-" + at + " user-" + at % 3,
                bytes("{\"order\":" + at + "}"));
            message.setFlag(at - 5);
            message.putUserProperty("region", at % 2 == 0 ? "eu" : "北京");
            send("keys", producer, message);
        }
        send("unicode", producer, new Message(topic, "uni", "u", bytes("你好，世界 \uD83D\uDE80 e\u0301\n\t")));
        send("binary", producer, new Message(topic, "bin", "b", new byte[] {0, 1, 2, -1, -128, 127, 10}));
        String repeated = "compress me ".repeat(500);
        for (String type : new String[] {"ZLIB", "LZ4", "ZSTD"}) {
            System.setProperty("rocketmq.message.compressType", type);
            DefaultMQProducer packing = new DefaultMQProducer("packing" + type + topic, hook);
            packing.setNamesrvAddr(producer.getNamesrvAddr());
            packing.setInstanceName("packing" + type + topic);
            packing.start();
            send("packed_" + type, packing, new Message(topic, "zip", "zip-" + type, bytes(repeated + type)));
            packing.shutdown();
        }
        Message twice = new Message(topic, "twice", "twice", bytes("sent more than once"));
        send("twice", producer, twice);
        send("twice", producer, twice);
        for (String own : new String[] {"my-own-key-" + topic, "0A0B0C0D00002A9F0000000000012345",
            "3f2504e04f8911d39a0c0305e82c3301"}) {
            Message message = new Message(topic, "own", "own", bytes("own UNIQ_KEY " + own));
            MessageAccessor.putProperty(message, "UNIQ_KEY", own);
            send("own_key", producer, message);
        }
    }

    static void batch(DefaultMQProducer producer, String kind, int items) throws Exception {
        List<Message> messages = new ArrayList<>();
        for (int at = 0; at < items; at++) {
            messages.add(new Message("Orders", "batch", kind + "-" + at, bytes("item " + at)));
        }
        SendResult result = producer.send(messages, 60_000);
        String[] ids = result.getMsgId().split(",");
        String[] offsets = result.getOffsetMsgId().split(",");
        for (int at = 0; at < items; at++) {
            sent.add(new String[] {kind, "Orders", ids[at], offsets[at]});
        }
    }

    /** A client that collects messages for two seconds: their ids are that much older than the id of their batch. */
    static void held(String names) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("held", hook);
        producer.setNamesrvAddr(names);
        producer.setInstanceName("held");
        producer.setAutoBatch(true);
        producer.batchMaxDelayMs(2_000);
        producer.start();
        CountDownLatch left = new CountDownLatch(3);
        for (int at = 0; at < 3; at++) {
            Thread.sleep(50);
            producer.send(new Message("Orders", "held", "held-" + at, bytes("held " + at)), new SendCallback() {
                @Override
                public void onSuccess(SendResult result) {
                    synchronized (sent) {
                        sent.add(new String[] {"held_batch", "Orders", result.getMsgId(), result.getOffsetMsgId()});
                    }
                    left.countDown();
                }

                @Override
                public void onException(Throwable problem) {
                    problem.printStackTrace();
                    System.exit(4);
                }
            });
        }
        left.await();
        producer.shutdown();
    }

    static void transactions(String names) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer("transactions", hook);
        producer.setNamesrvAddr(names);
        producer.setInstanceName("transactions");
        producer.setTransactionListener(new TransactionListener() {
            public LocalTransactionState executeLocalTransaction(Message message, Object state) {
                return (LocalTransactionState) state;
            }

            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                return LocalTransactionState.UNKNOW;
            }
        });
        producer.start();
        for (LocalTransactionState state : new LocalTransactionState[] {LocalTransactionState.COMMIT_MESSAGE,
            LocalTransactionState.ROLLBACK_MESSAGE}) {
            Message message = new Message("Notices", "tx", "tx-" + state, bytes("transaction " + state));
            SendResult result = producer.sendMessageInTransaction(message, state);
            boolean commit = state == LocalTransactionState.COMMIT_MESSAGE;
            sent.add(new String[] {commit ? "committed" : "rolled_back", "Notices", result.getMsgId(), null});
        }
        producer.shutdown();
    }

    /** One message back to its retry topic, one straight to the dead letters. */
    @SuppressWarnings("deprecation")
    static void sendBack(String names) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("readers", hook);
        consumer.setNamesrvAddr(names);
        consumer.setInstanceName("readers");
        consumer.start();
        DefaultMQProducer producer = new DefaultMQProducer("again", hook);
        producer.setNamesrvAddr(names);
        producer.setInstanceName("again");
        producer.start();
        for (int level : new int[] {1, -1}) {
            Message message = new Message("Orders", "back", "back" + level, bytes("sent back with level " + level));
            SendResult result = producer.send(message, 60_000);
            MessageExt stored = admin.viewMessage("Orders", result.getOffsetMsgId());
            consumer.sendMessageBack(stored, level);
            sent.add(new String[] {level < 0 ? "dead" : "retried", "Orders", result.getMsgId(),
                result.getOffsetMsgId()});
        }
        producer.shutdown();
        consumer.shutdown();
    }

    static void send(String kind, DefaultMQProducer producer, Message message) throws Exception {
        SendResult result = producer.send(message, 60_000);
        sent.add(new String[] {kind, message.getTopic(), result.getMsgId(), result.getOffsetMsgId()});
    }

    static void look(String[] item) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("kind", item[0]);
        line.put("topic", item[1]);
        line.put("msg_id", item[2]);
        line.put("offset_msg_id", item[3]);
        line.put("by_offset", item[3] == null ? null : seen(item[1], item[3]));
        line.put("by_uniq", item[2] == null ? null : seen(item[1], item[2]));
        out.println(json(line));
    }

    static Object seen(String topic, String id) {
        try {
            return fields(admin.viewMessage(topic, id));
        } catch (Exception missed) {
            return String.valueOf(missed.getMessage());
        }
    }

    static Map<String, Object> fields(MessageExt message) {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("topic", message.getTopic());
        found.put("queue_id", message.getQueueId());
        found.put("queue_offset", message.getQueueOffset());
        found.put("commit_log_offset", message.getCommitLogOffset());
        found.put("store_size", message.getStoreSize());
        found.put("sys_flag", message.getSysFlag());
        found.put("flag", message.getFlag());
        found.put("born_timestamp", message.getBornTimestamp());
        found.put("born_host", String.valueOf(message.getBornHost()));
        found.put("store_timestamp", message.getStoreTimestamp());
        found.put("store_host", String.valueOf(message.getStoreHost()));
        found.put("body_crc", message.getBodyCRC());
        found.put("reconsume_times", message.getReconsumeTimes());
        found.put("prepared_transaction_offset", message.getPreparedTransactionOffset());
        found.put("properties", new TreeMap<>(message.getProperties()));
        found.put("msg_id", message.getMsgId());
        if (message instanceof MessageClientExt) {
            found.put("offset_msg_id", ((MessageClientExt) message).getOffsetMsgId());
        }
        found.put("body", message.getBody().length > 9000 ? null : Base64.getEncoder().encodeToString(message.getBody()));
        return found;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String json(Object value) {
        if (value == null || value instanceof Number) {
            return String.valueOf(value);
        }
        StringBuilder text = new StringBuilder();
        if (value instanceof Map) {
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                text.append(text.length() == 0 ? "" : ",").append(json(entry.getKey())).append(":");
                text.append(json(entry.getValue()));
            }
            return "{" + text + "}";
        }
        for (char letter : value.toString().toCharArray()) {
            boolean plain = letter >= ' ' && letter < 127 && letter != '"' && letter != '\\';
            text.append(plain ? String.valueOf(letter) : String.format("\\u%04x", (int) letter));
        }
        return "\"" + text + "\"";
    }
}
