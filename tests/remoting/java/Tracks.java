import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;
import org.apache.rocketmq.tools.admin.api.MessageTrack;

/** What mqadmin and the dashboards say of each group: asked by a file with a line `NAME TOPIC MSGID` for each message. */
public class Tracks {
    static void run() throws Exception {
        DefaultMQAdminExt admin = new DefaultMQAdminExt(Clients.hook);
        admin.setNamesrvAddr(Clients.names);
        admin.setInstanceName("tracks-admin");
        admin.start();
        Path asked = Path.of("tracks");
        while (true) {
            if (!Files.exists(asked)) {
                Thread.sleep(100);
                continue;
            }
            for (String line : Files.readAllLines(asked)) {
                String[] words = line.split(" ");
                for (MessageTrack track : admin.messageTrackDetail(admin.viewMessage(words[1], words[2]))) {
                    Clients.line("TRACK", words[0], track.getConsumerGroup(), track.getTrackType());
                }
                Clients.line("TRACKED", words[0]);
            }
            Files.delete(asked);
        }
    }
}
