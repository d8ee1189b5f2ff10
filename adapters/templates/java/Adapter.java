// The row NAME: messages through a UNIX socket, as a beginning. Protocol.java has the rest; it need not be changed.

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** One end. Only send and receive are measured. */
final class Adapter implements Protocol.End {
    private final SocketChannel channel;

    /** Connects both roles: what has a name lies in setUp.folder, or is called setUp.name. */
    private Adapter(Protocol.SetUp setUp) throws IOException, InterruptedException {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(Path.of(setUp.folder, "socket"));
        channel = setUp.role.equals("responder") ? accept(address) : connect(address);
    }

    private static SocketChannel accept(UnixDomainSocketAddress address) throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(address);
            SocketChannel channel = listener.accept();
            Files.delete(address.getPath());
            return channel;
        }
    }

    /** Tries until the other end listens. */
    private static SocketChannel connect(UnixDomainSocketAddress address) throws IOException, InterruptedException {
        while (true) {
            try {
                return SocketChannel.open(address);
            } catch (SocketException notYet) {
                Thread.sleep(1);
            }
        }
    }

    @Override
    public void send(ByteBuffer message) throws IOException {
        message.clear();
        while (message.hasRemaining()) {
            channel.write(message);
        }
    }

    @Override
    public int receive(ByteBuffer message) throws IOException {
        message.clear();
        while (message.hasRemaining()) {
            if (channel.read(message) < 0) {
                throw new EOFException("the peer has disconnected");
            }
        }
        return message.capacity();
    }

    /** Removes what was made. */
    @Override
    public void close() throws IOException {
        channel.close();
    }

    public static void main(String[] arguments) throws Exception {
        // See adapters/protocol.md of furlong for what can be claimed.
        String claims = "\"summary\":\"SocketChannel of NIO over a UNIX socket, blocking, with direct buffers\"";
        Protocol.run(new Protocol.Row("NAME", false, "block", claims, Adapter::new));
    }
}
