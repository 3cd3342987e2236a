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
    static final AtomicInteger ended = new AtomicInteger();
    /** All into one queue, so that several messages come to one call of a listener. */
    static final MessageQueueSelector FIRST = (queues, message, nothing) -> Collections.min(queues);

    static void run() throws Exception {
        DefaultMQProducer producer = Clients.producer("senders", true);
        for (String body : new String[] {"ok 1", "ok 2", "ok 3", "throw", "null", "later", "hang"}) {
            Message message = new Message("Traced", "tag", "key-" + body.replace(" ", ""), bytes(body));
            Clients.patiently(() -> {
                long before = System.currentTimeMillis();
                SendResult result = producer.send(message, FIRST, null);
                long after = System.currentTimeMillis();
                Clients.line("send", result.getMsgId(), before, after, result.getOffsetMsgId(), result.getSendStatus());
                return null;
            });
        }
        Message oneway = new Message("Traced", bytes("ok one-way"));
        producer.sendOneway(oneway, FIRST, null);
        Clients.line("oneway", MessageClientIDSetter.getUniqID(oneway));
        consumer("readers", null, 1);
        consumer("batchers", "OwnTrace", 8);
        while (ended.get() < 8 + 3 + 7) {
            Thread.sleep(100);
        }
        Thread.sleep(7000); // the clients send what they traced at least every five seconds
        Clients.line("TRACED");
    }

    static void consumer(String group, String topic, int most) throws Exception {
        DefaultMQPushConsumer consumer = Clients.consumer(group, true, topic);
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
                    Clients.line("attempt", message.getMsgId(), group, began, System.currentTimeMillis(), message.getReconsumeTimes(), outcome, messages.size());
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
}
