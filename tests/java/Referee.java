import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageBatch;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
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
            case "hash":
                return String.valueOf(text(words[1]).hashCode());
            case "utf8":
                return hex(text(words[1]).getBytes(StandardCharsets.UTF_8));
            case "properties":
                return pairs(MessageDecoder.string2messageProperties(text(words[1])));
            case "order": { // the order of a HashMap that the decoder fills
                Map<String, String> map = MessageDecoder.string2messageProperties(text(words[1]));
                return "keys " + String.join(" ", map.keySet());
            }
            case "join":
                return "text " + hex(MessageDecoder.messageProperties2String(map(words, 1)).getBytes(StandardCharsets.UTF_8));
            case "encode":
                return hex(MessageDecoder.encodeMessage(message("T", words, 1)));
            case "decode": {
                Message read = MessageDecoder.decodeMessage(ByteBuffer.wrap(bytes(words[1])));
                return read.getFlag() + " b" + hex(read.getBody()) + " " + pairs(read.getProperties());
            }
            case "decodes": {
                StringBuilder all = new StringBuilder("n");
                for (Message read : MessageDecoder.decodeMessages(ByteBuffer.wrap(bytes(words[1])))) {
                    all.append(" ").append(read.getFlag()).append(":").append(hex(read.getBody()));
                }
                return all.toString();
            }
            case "record":
                return record(MessageDecoder.decode(ByteBuffer.wrap(bytes(words[1]))));
            case "client": { // which id getMsgId and toString print
                List<MessageExt> read = MessageDecoder.decodes(ByteBuffer.wrap(bytes(words[1])));
                StringBuilder all = new StringBuilder("n");
                for (MessageExt message : read) {
                    all.append(" ").append(message.getMsgId()).append(" ").append(hex(message.toString().getBytes(StandardCharsets.UTF_8)));
                }
                return all.toString();
            }
            case "store": { // MessageDecoder.encode: the record a broker would store, version 1
                MessageExt made = new MessageExt();
                made.setTopic(text(words[1]));
                made.setQueueId(Integer.parseInt(words[2]));
                made.setFlag(Integer.parseInt(words[3]));
                made.setQueueOffset(Long.parseLong(words[4]));
                made.setCommitLogOffset(Long.parseLong(words[5]));
                made.setSysFlag(Integer.parseInt(words[6]));
                made.setBornTimestamp(Long.parseLong(words[7]));
                made.setBornHost(new InetSocketAddress(InetAddress.getByAddress(bytes(words[8])), Integer.parseInt(words[9])));
                made.setStoreTimestamp(Long.parseLong(words[10]));
                made.setStoreHost(new InetSocketAddress(InetAddress.getByAddress(bytes(words[11])), Integer.parseInt(words[12])));
                made.setReconsumeTimes(Integer.parseInt(words[13]));
                made.setPreparedTransactionOffset(Long.parseLong(words[14]));
                made.setBody(bytes(words[15]));
                made.setBodyCRC(org.apache.rocketmq.common.UtilAll.crc32(made.getBody()));
                MessageAccessor.setProperties(made, map(words, 16));
                return hex(MessageDecoder.encode(made, false));
            }
            case "batch": { // topic delay wait, three words a message
                List<Message> messages = new ArrayList<Message>();
                for (int i = 1; i + 2 < words.length; i += 3) {
                    Message message = new Message(text(words[i]), new byte[] {(byte) i});
                    message.setDelayTimeLevel(Integer.parseInt(words[i + 1]));
                    message.setWaitStoreMsgOK(Boolean.parseBoolean(words[i + 2]));
                    messages.add(message);
                }
                try {
                    MessageBatch made = MessageBatch.generateFromList(messages);
                    return "ok " + hex(made.getTopic().getBytes(StandardCharsets.UTF_8)) + " " + made.isWaitStoreMsgOK();
                } catch (UnsupportedOperationException problem) {
                    return "refused " + hex(problem.getMessage().getBytes(StandardCharsets.UTF_8));
                }
            }
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private static String record(MessageExt read) {
        if (read == null) {
            return "null";
        }
        InetSocketAddress born = (InetSocketAddress) read.getBornHost();
        InetSocketAddress store = (InetSocketAddress) read.getStoreHost();
        return hex(read.getTopic().getBytes(StandardCharsets.UTF_8)) + " " + read.getQueueId() + " " + read.getFlag() + " "
            + read.getQueueOffset() + " " + read.getCommitLogOffset() + " " + read.getSysFlag() + " "
            + read.getBornTimestamp() + " " + hex(born.getAddress().getAddress()) + " " + born.getPort() + " "
            + read.getStoreTimestamp() + " " + hex(store.getAddress().getAddress()) + " " + store.getPort() + " "
            + read.getReconsumeTimes() + " " + read.getPreparedTransactionOffset() + " b"
            + (read.getBody() == null ? "-" : hex(read.getBody())) + " " + read.getStoreSize() + " " + read.getBodyCRC() + " "
            + read.getMsgId() + " " + pairs(read.getProperties());
    }

    private static Message message(String topic, String[] words, int from) {
        Message made = new Message(topic, bytes(words[from + 1]));
        made.setFlag(Integer.parseInt(words[from]));
        MessageAccessor.setProperties(made, map(words, from + 2));
        return made;
    }

    private static Map<String, String> map(String[] words, int from) {
        Map<String, String> made = new LinkedHashMap<String, String>();
        for (int i = from; i + 1 < words.length; i += 2) {
            made.put(text(words[i]), text(words[i + 1]));
        }
        return made;
    }

    private static String pairs(Map<String, String> map) {
        List<String> made = new ArrayList<String>();
        if (map != null) {
            for (Map.Entry<String, String> pair : map.entrySet()) {
                made.add(hex(pair.getKey().getBytes(StandardCharsets.UTF_8)) + "="
                    + hex(pair.getValue().getBytes(StandardCharsets.UTF_8)));
            }
        }
        java.util.Collections.sort(made);
        return "p" + String.join(",", made);
    }

    private static String text(String hex) {
        return new String(bytes(hex), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String hex) {
        byte[] made = new byte[hex.length() / 2];
        for (int i = 0; i < made.length; i++) {
            made[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return made;
    }

    private static String hex(byte[] raw) {
        StringBuilder made = new StringBuilder(2 * raw.length);
        for (byte one : raw) {
            made.append(String.format("%02X", one));
        }
        return made.toString();
    }
}
