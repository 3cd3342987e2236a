import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.MessageQueueSelector;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageExt;

/** Sends and consumes with enableMsgTrace, and logs what it did itself: a line for each send and each attempt. */
public class Traced {
    static PrintStream out;
    static final AtomicInteger ended = new AtomicInteger();
    /** All into one queue, so that several messages come to one call of a listener. */
    static final MessageQueueSelector FIRST = (queues, message, nothing) -> Collections.min(queues);

    public static void main(String[] arguments) throws Exception {
        System.setProperty("rocketmq.client.rebalance.waitInterval", "1000"); // else retries wait for 20 s
        out = new PrintStream(arguments[1], "UTF-8");
        DefaultMQProducer producer = new DefaultMQProducer("senders", null, true, null);
        producer.setNamesrvAddr(arguments[0]);
        producer.setInstanceName("producer");
        producer.setSendMsgTimeout(5000);
        producer.start();
        for (String body : new String[] {"ok 1", "ok 2", "ok 3", "throw", "null", "later", "hang"}) {
            Message message = new Message("Traced", "tag", "key-" + body.replace(" ", ""), bytes(body));
            send(producer, message, 40);
        }
        Message oneway = new Message("Traced", bytes("ok one-way"));
        producer.sendOneway(oneway, FIRST, null);
        line("oneway", MessageClientIDSetter.getUniqID(oneway), "-");
        consumer(arguments[0], "readers", null, 1);
        consumer(arguments[0], "batchers", "OwnTrace", 8);
        for (int wait = 0; wait < 300 && ended.get() < 8 + 3 + 7; wait++) {
            Thread.sleep(100);
        }
        Thread.sleep(7000); // the clients send what they traced at least every five seconds
        System.exit(0);
    }

    static void send(DefaultMQProducer producer, Message message, int tries) throws Exception {
        for (int at = 1;; at++) {
            long before = System.currentTimeMillis();
            try {
                SendResult result = producer.send(message, FIRST, null);
                line("send", result.getMsgId(), before, System.currentTimeMillis(), result.getOffsetMsgId(), result.getSendStatus());
                return;
            } catch (Exception problem) {
                if (at == tries) {
                    throw problem;
                }
                Thread.sleep(500);
            }
        }
    }

    static void consumer(String names, String group, String topic, int most) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group, true, topic);
        consumer.setNamesrvAddr(names);
        consumer.setInstanceName(group);
        consumer.setPollNameServerInterval(1000);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setConsumeMessageBatchMaxSize(most);
        consumer.subscribe("Traced", "*");
        boolean alone = most == 1;
        consumer.registerMessageListener(new MessageListenerConcurrently() {
            @Override
            public ConsumeConcurrentlyStatus consumeMessage(List<MessageExt> messages, ConsumeConcurrentlyContext context) {
                long began = System.currentTimeMillis();
                String body = new String(messages.get(0).getBody(), StandardCharsets.UTF_8);
                boolean first = alone && messages.get(0).getReconsumeTimes() == 0;
                String outcome = !first || body.startsWith("ok") ? "success"
                    : body.equals("throw") ? "exception" : body.equals("later") ? "failed" : body;
                sleep(outcome.equals("hang") ? 0 : 40);
                for (MessageExt message : messages) {
                    line("attempt", message.getMsgId(), group, began, System.currentTimeMillis(), message.getReconsumeTimes(), outcome, messages.size());
                    if (!outcome.equals("hang")) {
                        ended.incrementAndGet();
                    }
                }
                if (outcome.equals("hang")) {
                    sleep(600_000);
                }
                if (outcome.equals("exception")) {
                    throw new IllegalStateException("as wanted");
                }
                return outcome.equals("null") ? null : outcome.equals("failed") ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                    : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            }
        });
        consumer.start();
    }

    static void sleep(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static synchronized void line(Object... words) {
        StringBuilder made = new StringBuilder();
        for (Object word : words) {
            made.append(made.length() == 0 ? "" : " ").append(word);
        }
        out.println(made);
        out.flush();
    }
}
