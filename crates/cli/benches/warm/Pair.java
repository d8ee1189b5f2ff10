// Round trips of 128 bytes over a UNIX socket between two Java processes. Prints the median in nanoseconds.
// java Pair SOCKET CPU CPU: the CPUs of both, or - to leave them to the scheduler.

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

final class Pair {
    static void all(SocketChannel channel, ByteBuffer message, boolean sends) throws Exception {
        message.clear();
        while (message.hasRemaining()) {
            if ((sends ? channel.write(message) : channel.read(message)) < 0) System.exit(0);
        }
    }

    static long trip(SocketChannel channel, ByteBuffer message, boolean asks) throws Exception {
        all(channel, message, asks);
        all(channel, message, !asks);
        return System.nanoTime();
    }

    public static void main(String[] words) throws Exception {
        var address = UnixDomainSocketAddress.of(words[0]);
        var message = ByteBuffer.allocateDirect(128);
        if (words.length == 1) {
            try (var channel = SocketChannel.open(address)) {
                while (true) trip(channel, message, false);
            }
        }
        try (var listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(address);
            var java = new String[] {"taskset", "-c", words[2], "java", "-cp", System.getProperty("java.class.path"), "Pair", words[0]};
            var command = words[2].equals("-") ? Arrays.copyOfRange(java, 3, java.length) : java;
            var child = new ProcessBuilder(command).inheritIO().start();
            var channel = listener.accept();
            long[] times = new long[10_000_000];
            int kept = 0;
            long begin = System.nanoTime(), last = begin;
            for (long now = begin; now - begin < 2_700_000_000L; last = now) {
                now = trip(channel, message, true);
                if (now - begin > 2_500_000_000L) times[kept++] = now - last;
            }
            channel.close();
            child.waitFor();
            Arrays.sort(times, 0, kept);
            System.out.println(times[kept / 2]);
        }
    }
}
