import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/** A hundred messages, or as many as MANY_MESSAGES says, and ten groups that consume them; a tenth of the tries fails once. */
public class Many {
    static final int MESSAGES = Integer.parseInt(System.getenv().getOrDefault("MANY_MESSAGES", "100"));
    static final int GROUPS = 10;

    static void run() throws Exception {
        DefaultMQProducer producer = Clients.producer("many-producer", false);
        List<String> ids = new ArrayList<>();
        for (int at = 0; at < MESSAGES; at++) {
            Message message = new Message("Many", "TagA", "many-" + at, ("many " + at).getBytes(StandardCharsets.UTF_8));
            ids.add(Clients.patiently(() -> producer.send(message)).getMsgId());
        }
        AtomicInteger done = new AtomicInteger();
        for (int at = 0; at < GROUPS; at++) {
            DefaultMQPushConsumer consumer = Clients.consumer("many-" + at, false, null);
            consumer.setInstanceName("many");
            consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            consumer.subscribe("Many", "*");
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                boolean fails = messages.get(0).getReconsumeTimes() == 0 && messages.get(0).getQueueOffset() % 10 == 0;
                if (!fails) {
                    done.addAndGet(messages.size());
                }
                return fails ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            consumer.start();
        }
        while (done.get() < MESSAGES * GROUPS) {
            Thread.sleep(100);
        }
        Thread.sleep(11_000); // a client reports its offsets for the first time after ten seconds
        Clients.line("MANY", String.join(" ", ids));
    }
}
