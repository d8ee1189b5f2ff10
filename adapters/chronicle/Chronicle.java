// Chronicle Queue: a queue for each direction, appended to and tailed. What was sent stays in its files until the trial ends.

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;

final class Chronicle implements Protocol.End {
    private static final int LARGEST = 16 << 20;

    private final Path folder;
    private final ChronicleQueue there, back;
    private final ExcerptAppender appender;
    private final ExcerptTailer tailer;
    private final Bytes<?> out, in;

    private Chronicle(Protocol.SetUp setUp) throws IOException, InterruptedException {
        folder = Path.of(setUp.folder);
        // Also where it is asked to end.
        Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
        boolean initiator = setUp.role.equals("initiator");
        there = SingleChronicleQueueBuilder.binary(folder.resolve("there").toString()).build();
        back = SingleChronicleQueueBuilder.binary(folder.resolve("back").toString()).build();
        appender = (initiator ? there : back).createAppender();
        tailer = (initiator ? back : there).createTailer();
        out = Bytes.allocateElasticDirect(setUp.ownSize);
        in = Bytes.allocateElasticDirect(setUp.otherSize);
        // Each shows that it is there, by which the files of both are there too.
        Path own = folder.resolve(setUp.role), other = folder.resolve(initiator ? "responder" : "initiator");
        Files.createFile(own);
        while (!Files.exists(other)) {
            Thread.sleep(1);
        }
    }

    @Override
    public void send(ByteBuffer message) {
        out.clear();
        out.writeSome(message.clear());
        appender.writeBytes(out);
    }

    @Override
    public int receive(ByteBuffer message) {
        in.clear();
        while (!tailer.readBytes(in)) {
            Thread.onSpinWait();
        }
        int length = (int) in.readRemaining();
        if (length <= message.capacity()) {
            message.clear();
            in.read(message);
        }
        return length;
    }

    @Override
    public void close() {
        there.close();
        back.close();
        remove();
    }

    /** Both roles remove all files: a role that is last finds what the other one has made since. */
    private void remove() {
        try (var left = Files.walk(folder)) {
            for (Path path : left.sorted(Comparator.reverseOrder()).toList()) {
                if (!path.equals(folder)) {
                    Files.deleteIfExists(path);
                }
            }
        } catch (IOException | java.io.UncheckedIOException removed) {
            // The other role does the same at the same time.
        }
    }

    public static void main(String[] arguments) throws Exception {
        Protocol.run(new Protocol.Row("chronicle-queue", false, "spin", "\"Chronicle Queue\":\"2026.4\",", """
                "summary":"Chronicle Queue: a file of messages in each direction, appended to and tailed",
                "max_size_bytes":%d,"limited_by":"a quarter of a block of the file","peer_death":"unnoticed"
                """.formatted(LARGEST).replace("\n", ""), Chronicle::new));
    }
}
