import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ReceiptHandle;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.producer.RecallMessageHandle;
import org.apache.rocketmq.remoting.protocol.header.ExtraInfoUtil;
import org.apache.rocketmq.tools.admin.api.MessageTrack;
import org.apache.rocketmq.tools.admin.api.TrackType;

/** Prints what clients and mqadmin print of deliveries, one line a question, with RocketMQ's own classes. */
public class DeliveryReferee {
    public static void main(String[] arguments) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            answers.println(answer(line.split(" ", -1)));
        }
        System.exit(0);
    }

    private static String answer(String[] words) {
        switch (words[0]) {
            case "receipt":
                return ReceiptHandle.builder().startOffset(Long.parseLong(words[1]))
                    .retrieveTime(Long.parseLong(words[2])).invisibleTime(Long.parseLong(words[3]))
                    .reviveQueueId(Integer.parseInt(words[4])).topicType(words[5]).brokerName(words[6])
                    .queueId(Integer.parseInt(words[7])).offset(Long.parseLong(words[8]))
                    .commitLogOffset(Long.parseLong(words[9])).build().encode();
            case "ends":
                return "" + ReceiptHandle.decode(String.join(" ", java.util.Arrays.copyOfRange(words, 1, words.length)))
                    .getNextVisibleTime();
            case "pop": // start popTime invisible reviveQueue topic broker queue offset
                return ExtraInfoUtil.buildExtraInfo(Long.parseLong(words[1]), Long.parseLong(words[2]),
                    Long.parseLong(words[3]), Integer.parseInt(words[4]), words[5], words[6],
                    Integer.parseInt(words[7]), Long.parseLong(words[8]));
            case "recall":
                return RecallMessageHandle.HandleV1.buildHandle(words[1], words[2], words[3], words[4]);
            case "sent": { // status msgId offsetMsgId topic recallHandle
                SendResult result = new SendResult(SendStatus.valueOf(words[1]), words[2], words[3],
                    new MessageQueue(words[4], "broker-a", 3), 77);
                result.setRecallHandle(words[5]);
                return result.toString();
            }
            case "message": { // topic realTopic tries msgId offsetMsgId level
                MessageExt message = new MessageExt(3, 1741917600120L, new InetSocketAddress("10.9.1.4", 55999),
                    1741917610144L, new InetSocketAddress("10.9.0.2", 10911), words[5]);
                message.setBrokerName("broker-a");
                message.setTopic(words[1]);
                message.setBody(new byte[] {72});
                message.setReconsumeTimes(Integer.parseInt(words[3]));
                MessageAccessor.putProperty(message, "UNIQ_KEY", words[4]);
                MessageAccessor.putProperty(message, "REAL_TOPIC", words[2]);
                MessageAccessor.putProperty(message, "RETRY_TOPIC", words[1]);
                MessageAccessor.putProperty(message, "DELAY", words[6]);
                MessageAccessor.setConsumeStartTimeStamp(message, "1741917610150");
                return "received " + message;
            }
            case "track": {
                MessageTrack track = new MessageTrack();
                track.setConsumerGroup(words[1]);
                track.setTrackType(TrackType.valueOf(words[2]));
                return track.toString();
            }
            default:
                return "?";
        }
    }
}
