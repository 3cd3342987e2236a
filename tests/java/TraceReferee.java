import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.AccessChannel;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.trace.TraceBean;
import org.apache.rocketmq.client.trace.TraceContext;
import org.apache.rocketmq.client.trace.TraceDataEncoder;
import org.apache.rocketmq.client.trace.TraceType;
import org.apache.rocketmq.common.message.MessageType;

/** Encodes trace contexts with the client's own TraceDataEncoder, one of each line; "-" is null, "." an empty text. */
public class TraceReferee {
    public static void main(String[] args) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        for (String question = questions.readLine(); question != null; question = questions.readLine()) {
            String answer;
            try {
                answer = answer(question.split(" "));
            } catch (Throwable problem) {
                answer = "! " + problem.getClass().getName();
            }
            answers.println(answer);
        }
        System.exit(0);
    }

    private static String answer(String[] words) {
        if (words[0].equals("types")) {
            StringBuilder all = new StringBuilder("types");
            for (TraceType type : TraceType.values()) {
                all.append(" ").append(type);
            }
            return all.toString();
        }
        if (words[0].equals("count")) { // what the real decoder reads of a body
            return "n " + TraceDataEncoder.decoderFromTraceDataString(text(words[1])).size();
        }
        TraceContext made = new TraceContext();
        made.setTraceType(TraceType.valueOf(words[0]));
        made.setAccessChannel(AccessChannel.valueOf(words[1]));
        made.setTimeStamp(Long.parseLong(words[2]));
        made.setRegionId(text(words[3]));
        made.setGroupName(text(words[4]));
        made.setRequestId(text(words[5]));
        made.setCostTime(Integer.parseInt(words[6]));
        made.setSuccess(Boolean.parseBoolean(words[7]));
        made.setContextCode(Integer.parseInt(words[8]));
        List<TraceBean> beans = new ArrayList<TraceBean>();
        for (int i = 9; i + 11 < words.length; i += 12) {
            TraceBean bean = new TraceBean();
            bean.setTopic(text(words[i]));
            bean.setMsgId(text(words[i + 1]));
            bean.setTags(text(words[i + 2]));
            bean.setKeys(text(words[i + 3]));
            bean.setStoreHost(text(words[i + 4]));
            bean.setBodyLength(Integer.parseInt(words[i + 5]));
            bean.setRetryTimes(Integer.parseInt(words[i + 6]));
            bean.setMsgType(MessageType.values()[Integer.parseInt(words[i + 7])]);
            bean.setOffsetMsgId(text(words[i + 8]));
            bean.setTransactionId(text(words[i + 9]));
            bean.setTransactionState(LocalTransactionState.valueOf(words[i + 10]));
            bean.setFromTransactionCheck(Boolean.parseBoolean(words[i + 11]));
            beans.add(bean);
        }
        made.setTraceBeans(beans);
        return "x " + hex(TraceDataEncoder.encoderFromContextBean(made).getTransData().getBytes(StandardCharsets.UTF_8));
    }

    private static String text(String hex) {
        if (hex.equals("-")) {
            return null;
        }
        if (hex.equals(".")) {
            return "";
        }
        byte[] made = new byte[hex.length() / 2];
        for (int i = 0; i < made.length; i++) {
            made[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return new String(made, StandardCharsets.UTF_8);
    }

    private static String hex(byte[] raw) {
        StringBuilder made = new StringBuilder(2 * raw.length);
        for (byte one : raw) {
            made.append(String.format("%02X", one));
        }
        return made.toString();
    }
}
