import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Calendar;
import java.util.TimeZone;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageId;

/** Answers one question a line with RocketMQ's own id classes; an exception is an answer that begins with a mark. */
public class Referee {
    public static void main(String[] arguments) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            String[] words = line.split(" ", -1);
            String answer;
            try {
                answer = answer(words);
            } catch (Throwable problem) {
                answer = "! " + problem.getClass().getName();
            }
            answers.println(answer.replace('\n', ' '));
        }
        System.exit(0); // clients of some releases leave threads behind
    }

    private static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "process": {
                String name = java.lang.management.ManagementFactory.getRuntimeMXBean().getName();
                int loader = MessageClientIDSetter.class.getClassLoader().hashCode();
                return name.substring(0, name.indexOf('@')) + " " + String.format("%08X", loader) + " "
                    + TimeZone.getDefault().getID();
            }
            case "make": {
                long before = System.currentTimeMillis();
                String made = MessageClientIDSetter.createUniqID();
                return made + " " + before + " " + System.currentTimeMillis();
            }
            case "uniq": {
                String host = MessageClientIDSetter.getIPStrFromID(words[1]);
                long now = System.currentTimeMillis();
                return host + " " + MessageClientIDSetter.getNearlyTimeFromID(words[1]).getTime() + " " + now;
            }
            case "offset": {
                MessageId read = MessageDecoder.decodeMessageId(words[1]);
                InetSocketAddress address = (InetSocketAddress) read.getAddress();
                return address.getAddress().getHostAddress() + " " + address.getPort() + " " + read.getOffset();
            }
            case "create": {
                byte[] host = InetAddress.getByName(words[1]).getAddress();
                ByteBuffer address = ByteBuffer.allocate(host.length + 4);
                address.put(host).putInt(Integer.parseInt(words[2]));
                address.flip();
                ByteBuffer room = ByteBuffer.allocate(host.length + 4 + 8);
                return MessageDecoder.createMessageId(room, address, Long.parseLong(words[3]));
            }
            case "month": { // as MessageClientIDSetter.setStartTime sets its calendar back
                if (!Arrays.asList(TimeZone.getAvailableIDs()).contains(words[1])) {
                    return "?";
                }
                Calendar calendar = Calendar.getInstance(TimeZone.getTimeZone(words[1]));
                calendar.set(Integer.parseInt(words[2]), Integer.parseInt(words[3]) - 1, 15, 13, 30, 0);
                calendar.setTimeInMillis(calendar.getTimeInMillis());
                calendar.set(Calendar.DAY_OF_MONTH, 1);
                calendar.set(Calendar.HOUR_OF_DAY, 0);
                calendar.set(Calendar.MINUTE, 0);
                calendar.set(Calendar.SECOND, 0);
                calendar.set(Calendar.MILLISECOND, 0);
                return String.valueOf(calendar.getTimeInMillis());
            }
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }
}
