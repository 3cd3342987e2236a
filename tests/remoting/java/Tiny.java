import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;

/** Sends a few signed messages with the client of 4.9 and prints their ids; topics make themselves. */
public class Tiny {
    public static void main(String[] arguments) throws Exception {
        DefaultMQProducer producer =
            new DefaultMQProducer("tiny", new AclClientRPCHook(new SessionCredentials(arguments[1], arguments[2])));
        producer.setNamesrvAddr(arguments[0]);
        producer.start();
        for (int at = 0; at < 5; at++) {
            Message message =
                new Message("OldTopic", "old", "old-" + at, ("old " + at).getBytes(StandardCharsets.UTF_8));
            System.out.println(send(producer, message, 40));
        }
        System.exit(0);
    }

    /** The broker may not have registered yet. */
    static String send(DefaultMQProducer producer, Message message, int tries) throws Exception {
        for (int at = 1;; at++) {
            try {
                SendResult result = producer.send(message, 5000);
                return result.getMsgId() + " " + result.getOffsetMsgId();
            } catch (Exception problem) {
                if (at == tries) {
                    throw problem;
                }
                Thread.sleep(500);
            }
        }
    }
}
