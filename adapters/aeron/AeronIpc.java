// Aeron's IPC in Java: a publication and a subscription for each role, and a media driver that the responder starts.

import io.aeron.Aeron;
import io.aeron.FragmentAssembler;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.MediaDriverVersion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

final class AeronIpc implements Protocol.End {
    private static final int THERE = 1, BACK = 2, LARGEST = 16 << 20;

    private final Path directory;
    /** The responder's, and none of the initiator's. */
    private final Process driver;
    private final Aeron aeron;
    private final Publication publication;
    private final Subscription subscription;
    private final UnsafeBuffer out = new UnsafeBuffer(0, 0);
    private final FragmentAssembler assembler = new FragmentAssembler((buffer, at, length, header) -> take(buffer, at, length));
    private ByteBuffer into;
    private int received;

    private AeronIpc(Protocol.SetUp setUp) throws IOException, InterruptedException {
        directory = Path.of("/dev/shm", setUp.name);
        boolean initiator = setUp.role.equals("initiator");
        driver = initiator ? null : startDriver();
        aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory.toString()).driverTimeoutMs(20_000));
        // A message may have an eighth of a term. Half of a term may be unread: 2 MiB and at least 4 messages, as in the rings of furlong.
        int terms = Math.max(4 << 20, Integer.highestOneBit(Math.max(setUp.sizes[0], setUp.sizes[1]) - 1 | 1) << 4);
        String channel = "aeron:ipc?term-length=" + Math.min(terms, 8 * LARGEST);
        publication = aeron.addPublication(channel, initiator ? THERE : BACK);
        subscription = aeron.addSubscription(channel, initiator ? BACK : THERE);
        while (!publication.isConnected() || !subscription.isConnected()) {
            Thread.sleep(1);
        }
    }

    private Process startDriver() throws IOException {
        String java = ProcessHandle.current().info().command().orElse("java");
        Process started = new ProcessBuilder(List.of(java, "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens",
                "java.base/sun.nio.ch=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"), "-Daeron.dir=" + directory,
                "-Daeron.threading.mode=SHARED", MediaDriver.class.getName()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(started)));
        return started;
    }

    /** Ends the driver, and removes what it leaves. */
    private void stop(Process started) {
        started.destroy();
        try {
            if (!started.waitFor(2, TimeUnit.SECONDS)) {
                started.destroyForcibly().waitFor();
            }
            if (Files.exists(directory)) {
                try (var left = Files.walk(directory)) {
                    for (Path path : left.sorted(Comparator.reverseOrder()).toList()) {
                        Files.deleteIfExists(path);
                    }
                }
            }
        } catch (IOException | InterruptedException problem) {
            System.err.println("what the driver left stays: " + problem);
        }
    }

    private void take(DirectBuffer buffer, int at, int length) {
        if (length <= into.capacity()) {
            buffer.getBytes(at, into, 0, length);
        }
        received = length;
    }

    @Override
    public void send(ByteBuffer message) throws IOException {
        out.wrap(message, 0, message.capacity());
        long position;
        while ((position = publication.offer(out, 0, message.capacity())) < 0) {
            if (position == Publication.CLOSED || position == Publication.MAX_POSITION_EXCEEDED) {
                throw new IOException("the publication is closed");
            }
            Thread.onSpinWait();
        }
    }

    @Override
    public int receive(ByteBuffer message) {
        into = message;
        received = -1;
        while (received < 0) {
            if (subscription.poll(assembler, 1) == 0) {
                Thread.onSpinWait();
            }
        }
        return received;
    }

    @Override
    public String processes() {
        return driver == null ? "" : "{\"pid\":" + driver.pid() + ",\"role\":\"other\",\"name\":\"aeron-driver\"}";
    }

    @Override
    public void close() {
        aeron.close();
        if (driver != null) {
            stop(driver);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Protocol.run(new Protocol.Row("aeron-ipc", false, "spin", "\"Aeron\":\"" + MediaDriverVersion.VERSION + "\",", """
                "summary":"Aeron's IPC in Java, polled, with a media driver in a process of its own",
                "max_size_bytes":16777216,"limited_by":"the longest message of Aeron","peer_death":"unnoticed"
                """.replace("\n", ""), AeronIpc::new));
    }
}
