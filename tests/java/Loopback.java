import java.io.ByteArrayInputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Set;
import javassist.CannotCompileException;
import javassist.ClassPool;
import javassist.CtClass;
import javassist.LoaderClassPath;
import javassist.expr.ExprEditor;
import javassist.expr.NewExpr;

/** An agent for servers that cannot be told an address: what they bind by a port alone, they bind on loopback. */
public final class Loopback {
    private static final Set<String> SERVERS = Set.of(
        "org/apache/rocketmq/remoting/netty/NettyRemotingServer",
        "org/apache/rocketmq/store/ha/HAService$AcceptSocketService",
        "org/apache/rocketmq/store/ha/DefaultHAService$AcceptSocketService");

    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> before, ProtectionDomain domain, byte[] raw) {
                if (!SERVERS.contains(name)) {
                    return null;
                }
                try {
                    return bound(loader, raw);
                } catch (Throwable problem) { // a transformer's exceptions are swallowed, and the port would be open to all
                    problem.printStackTrace();
                    Runtime.getRuntime().halt(1);
                    return null;
                }
            }
        });
    }

    private static byte[] bound(ClassLoader loader, byte[] raw) throws Exception {
        ClassPool pool = new ClassPool(true);
        pool.appendClassPath(new LoaderClassPath(loader));
        CtClass server = pool.makeClass(new ByteArrayInputStream(raw));
        server.instrument(new ExprEditor() {
            @Override
            public void edit(NewExpr made) throws CannotCompileException {
                if (made.getClassName().equals("java.net.InetSocketAddress") && made.getSignature().equals("(I)V")) {
                    made.replace("$_ = new java.net.InetSocketAddress(java.net.InetAddress.getLoopbackAddress(), $1);");
                }
            }
        });
        return server.toBytecode();
    }
}
