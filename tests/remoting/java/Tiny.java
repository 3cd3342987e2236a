import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;

/** Sends a few messages, where signatures are wanted signed ones, and prints their ids; topics make themselves. */
public class Tiny {
    static void run() throws Exception {
        DefaultMQProducer producer = Clients.producer("tiny", false);
        for (int at = 0; at < 5; at++) {
            Message message =
                new Message("OldTopic", "old", "old-" + at, ("old " + at).getBytes(StandardCharsets.UTF_8));
            SendResult result = Clients.patiently(() -> producer.send(message));
            Clients.line("TINY", at, result.getMsgId(), result.getOffsetMsgId());
        }
    }
}
