// Rows of what Java's own library has: a UNIX socket of NIO, and a mapped file.

import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

final class Adapter {
    private Adapter() {}

    /** Gives back what it was given. */
    private static final class Null implements Protocol.End {
        private final ByteBuffer held;

        Null(Protocol.SetUp setUp) {
            held = Protocol.message(setUp.ownSize);
        }

        @Override
        public void send(ByteBuffer message) {
            held.put(0, message, 0, message.capacity());
        }

        @Override
        public int receive(ByteBuffer message) {
            message.put(0, held, 0, message.capacity());
            return message.capacity();
        }

        @Override
        public void close() {}
    }

    private static final class UnixSocket implements Protocol.End {
        private final SocketChannel channel;

        UnixSocket(Protocol.SetUp setUp) throws IOException, InterruptedException {
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
                } catch (ConnectException refused) {
                    Thread.sleep(1);
                } catch (SocketException missing) {
                    if (Files.exists(address.getPath())) {
                        continue;
                    }
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

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Slots for messages in each direction, in one mapped file. A message is copied in and out. */
    private static final class MappedFile implements Protocol.End {
        private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
        private static final int LINE = 64;
        /** Where the words are: whether the initiator is there, and how many were taken of a stream. */
        private static final int THERE = 2 * LINE, TAKEN = 3 * LINE, SLOTS = 4 * LINE;

        private final MappedByteBuffer memory;
        private final boolean stream;
        private final int slots, publishes, arrives, out, outStep, in, inStep;
        private long sent, seen;

        MappedFile(Protocol.SetUp setUp) throws IOException, InterruptedException {
            stream = setUp.pattern.equals("one-way");
            // A round trip needs one slot. A stream needs more, or the two processes take turns.
            slots = stream ? Math.max(2, Math.min(64, (1 << 20) / setUp.sizes[0])) : 1;
            long there = (setUp.sizes[0] + LINE - 1L) / LINE * LINE, back = (setUp.sizes[1] + LINE - 1L) / LINE * LINE;
            long bytes = SLOTS + slots * (there + back);
            if (bytes > Integer.MAX_VALUE) {
                throw new Protocol.Failure("unsupported", "a mapping has at most 2 GiB");
            }
            boolean responder = setUp.role.equals("responder");
            int first = SLOTS, second = (int) (SLOTS + slots * there);
            publishes = responder ? LINE : 0;
            arrives = responder ? 0 : LINE;
            out = responder ? second : first;
            in = responder ? first : second;
            outStep = (int) (responder ? back : there);
            inStep = (int) (responder ? there : back);
            Path path = Path.of(setUp.folder, "memory");
            memory = responder ? create(path, bytes) : open(path, bytes);
        }

        private static MappedByteBuffer create(Path path, long bytes) throws IOException, InterruptedException {
            Path unfinished = path.resolveSibling("unfinished");
            try (FileChannel file = FileChannel.open(unfinished, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
                    StandardOpenOption.WRITE)) {
                // Written and not only made longer, so that a full disk shows here.
                ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 16);
                for (long at = 0; at < bytes; at += zeros.capacity()) {
                    file.write(zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - at)), at);
                }
                MappedByteBuffer memory = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
                Files.move(unfinished, path);
                while ((long) WORD.getAcquire(memory, THERE) == 0) {
                    Thread.sleep(1);
                }
                Files.delete(path);
                return memory;
            }
        }

        private static MappedByteBuffer open(Path path, long bytes) throws IOException, InterruptedException {
            while (!Files.exists(path)) {
                Thread.sleep(1);
            }
            try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                MappedByteBuffer memory = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
                WORD.setRelease(memory, THERE, 1L);
                return memory;
            }
        }

        @Override
        public void send(ByteBuffer message) {
            // In a round trip the answer says that the slot is free.
            while (stream && sent - (long) WORD.getAcquire(memory, TAKEN) == slots) {
                Thread.onSpinWait();
            }
            memory.put(out + (int) (sent % slots) * outStep, message, 0, message.capacity());
            WORD.setRelease(memory, publishes, ++sent);
        }

        @Override
        public int receive(ByteBuffer message) {
            while ((long) WORD.getAcquire(memory, arrives) == seen) {
                Thread.onSpinWait();
            }
            message.put(0, memory, in + (int) (seen % slots) * inStep, message.capacity());
            seen++;
            if (stream) {
                WORD.setRelease(memory, TAKEN, seen);
            }
            return message.capacity();
        }

        @Override
        public void close() {}
    }

    private static Protocol.Row row(String name) {
        return switch (name) {
            case "null" -> new Protocol.Row("java-null", true, "spin", """
                    "summary":"Java's loop without a mechanism: the message is copied into private memory and out again",
                    "when_full":"overwrites","peer_death":"unnoticed","reach":"fork"
                    """.replace("\n", ""), Null::new);
            case "unix-socket" -> new Protocol.Row("java-unix-socket", false, "block", """
                    "summary":"SocketChannel of NIO over a UNIX socket, blocking, with direct buffers"
                    """.replace("\n", ""), UnixSocket::new);
            case "mapped-file" -> new Protocol.Row("java-mapped-file", false, "spin", """
                    "summary":"MappedByteBuffer of a file, with counters that the receiver looks at until they change",
                    "peer_death":"unnoticed"
                    """.replace("\n", ""), MappedFile::new);
            default -> throw new IllegalArgumentException("give the name of a row: null, unix-socket or mapped-file");
        };
    }

    public static void main(String[] arguments) throws Exception {
        Protocol.run(row(arguments[0]));
    }
}
