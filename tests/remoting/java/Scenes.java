import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** The same scenes for every release from 4.9 on, each message by its name: `SENT name msgId`, then `DONE`. */
public class Scenes {
    static final Set<String> done = ConcurrentHashMap.newKeySet();
    static String names;
    static DefaultMQProducer producer;

    public static void main(String[] arguments) throws Exception {
        names = arguments[0];
        producer = new DefaultMQProducer("scenes-producer");
        producer.setNamesrvAddr(names);
        producer.setDefaultTopicQueueNums(1);
        producer.setSendMsgTimeout(60_000);
        producer.start();
        send("early", 0, 0);
        DefaultMQPushConsumer gone = consumer("gone", "*", 16);
        await("gone early");
        Thread.sleep(1_500); // it commits its offsets every half a second
        gone.shutdown();
        consumer("reads", "*", 16);
        consumer("choosy", "TagB", 16);
        consumer("fails", "*", 1);
        await("reads early");
        send("plain", 0, 0);
        send("delayed", 1, 0);
        send("waiting", 10, 0);
        boolean timer = arguments[1].equals("timer");
        if (timer) {
            send("timed", 0, 2_000);
            send("timer", 0, 3_600_000);
        }
        for (int at = 0; at < 150; at++) { // more than a broker shows at a time
            producer.send(new Message("Tagged", at % 3 == 0 ? "Rare" : "Usual", "tagged".getBytes(StandardCharsets.UTF_8)));
        }
        transactions();
        await("reads plain", "reads delayed", "reads committed", "fails plain");
        if (timer) {
            await("reads timed");
        }
        while (!done.contains("fails again plain")) {
            Thread.sleep(50);
        }
        Thread.sleep(8_000); // decisions are noted after three seconds, offsets written every five
        System.out.println("DONE");
        Thread.sleep(600_000);
        System.exit(0);
    }

    static void send(String name, int level, long milliseconds) throws Exception {
        Message message = new Message("Scenes", "TagA", "key-" + name, name.getBytes(StandardCharsets.UTF_8));
        message.setDelayTimeLevel(level);
        if (milliseconds > 0) {
            Message.class.getMethod("setDelayTimeMs", long.class).invoke(message, milliseconds);
        }
        for (int at = 1;; at++) {
            try {
                System.out.println("SENT " + name + " " + producer.send(message).getMsgId());
                return;
            } catch (Exception problem) {
                if (at == 100) {
                    throw problem;
                }
                Thread.sleep(200); // the broker may not have registered yet
            }
        }
    }

    static DefaultMQPushConsumer consumer(String group, String tags, int attempts) throws Exception {
        DefaultMQPushConsumer made = new DefaultMQPushConsumer(group);
        made.setNamesrvAddr(names);
        made.setInstanceName(group);
        made.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        made.setPersistConsumerOffsetInterval(500);
        made.setPollNameServerInterval(1_000);
        made.setHeartbeatBrokerInterval(1_000);
        made.setMaxReconsumeTimes(attempts);
        made.subscribe("Scenes", tags);
        made.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                String name = new String(message.getBody(), StandardCharsets.UTF_8);
                done.add(group + (message.getReconsumeTimes() > 0 ? " again " : " ") + name);
            }
            return group.equals("fails") ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        made.start();
        return made;
    }

    static void transactions() throws Exception {
        TransactionMQProducer payer = new TransactionMQProducer("payers");
        payer.setNamesrvAddr(names);
        payer.setInstanceName("payers");
        payer.setSendMsgTimeout(60_000);
        payer.setTransactionListener(new TransactionListener() {
            public LocalTransactionState executeLocalTransaction(Message message, Object wanted) {
                return (LocalTransactionState) wanted;
            }

            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                return LocalTransactionState.UNKNOW;
            }
        });
        payer.start();
        for (LocalTransactionState wanted : LocalTransactionState.values()) {
            String name = List.of("committed", "rolled_back", "open").get(wanted.ordinal());
            Message message = new Message("Scenes", "TagA", "key-" + name, name.getBytes(StandardCharsets.UTF_8));
            System.out.println("SENT " + name + " " + payer.sendMessageInTransaction(message, wanted).getMsgId());
        }
    }

    static void await(String... what) throws Exception {
        while (!done.containsAll(List.of(what))) {
            Thread.sleep(50);
        }
    }
}
