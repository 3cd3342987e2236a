import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/** Sends while parts of the broker are halted: a file asks for each message, in a line `NAME TOPIC LEVEL TIMER COUNT`. */
public class Halted {
    static final String TOPIC = "Halted";

    static void run() throws Exception {
        DefaultMQProducer producer = Clients.producer("halted-producer", false);
        send(producer, "opens", TOPIC, 0, 0, 1);
        start("fails-once", false);
        start("idle", false);
        start("muted", true);
        Path asked = Path.of("halted");
        while (true) {
            if (!Files.exists(asked)) {
                Thread.sleep(20);
                continue;
            }
            for (String line : Files.readAllLines(asked)) {
                String[] words = line.split(" ");
                send(producer, words[0], words[1], Integer.parseInt(words[2]), Long.parseLong(words[3]),
                    Integer.parseInt(words[4]));
            }
            Files.delete(asked);
        }
    }

    static void send(DefaultMQProducer producer, String name, String topic, int level, long timer, int count)
        throws Exception {
        Message message = new Message(topic, "TagA", name, name.getBytes(StandardCharsets.UTF_8));
        message.setDelayTimeLevel(level);
        if (timer > 0) {
            Message.class.getMethod("setDelayTimeMs", long.class).invoke(message, timer);
        }
        for (int at = 0; at < count; at++) {  // again with the same msgId, as a producer's retry
            SendResult result = Clients.patiently(() -> producer.send(message));
            if (count > 1 && at == 0) {
                Reasons.has("half-done", topic, result.getQueueOffset() + 1);
            }
            Clients.line("PUT", name, result.getMsgId(), result.getOffsetMsgId());
        }
        Clients.line("SENT", name, message.getProperty("UNIQ_KEY"), System.currentTimeMillis());
    }

    static void start(String group, boolean broadcast) throws Exception {
        DefaultMQPushConsumer consumer = Clients.consumer(group, false, null);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        if (broadcast) {
            Consumers.broadcast(consumer);
            consumer.setPullThresholdForQueue(1);
            consumer.setPullBatchSize(1);
        }
        consumer.subscribe(TOPIC, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            int tries = messages.get(0).getReconsumeTimes();
            String what = group + " " + new String(messages.get(0).getBody(), StandardCharsets.UTF_8) + " " + tries;
            Clients.line("TOOK", what);
            if (group.equals("muted")) {
                Reasons.hang();
            }
            context.setDelayLevelWhenNextConsume(1);
            return tries == 0 ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        if (group.equals("idle")) {
            consumer.suspend();
        }
        consumer.start();
    }
}
