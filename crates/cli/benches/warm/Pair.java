// Round trips of 128 bytes over a UNIX socket between two Java processes. Prints the median in nanoseconds.
// java Pair SOCKET CPU CPU: the CPUs of both, or - to leave them to the scheduler. As in furlong's loop, a process numbers its next
// message and checks the last one between write and read: what it does there decides whether the other one has to be woken.

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

final class Pair {
    static final ByteBuffer outgoing = ByteBuffer.allocateDirect(128), incoming = ByteBuffer.allocateDirect(128);

    static void number(long number) {
        outgoing.putLong(0, number).putLong(120, ~number).clear();
    }

    static void check(long number) {
        if (incoming.getLong(0) != number || incoming.getLong(120) != ~number) throw new IllegalStateException("message " + number);
    }

    static void send(SocketChannel channel) throws Exception {
        while (outgoing.hasRemaining()) channel.write(outgoing);
    }

    static void receive(SocketChannel channel) throws Exception {
        incoming.clear();
        while (incoming.hasRemaining()) if (channel.read(incoming) < 0) System.exit(0);
    }

    public static void main(String[] words) throws Exception {
        var address = UnixDomainSocketAddress.of(words[0]);
        if (words.length == 1) {
            try (var channel = SocketChannel.open(address)) {
                for (long number = 0; ; number++) {
                    number(number);
                    receive(channel);
                    send(channel);
                    check(number);
                }
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
            long number = 0;
            long begin = System.nanoTime(), last = begin;
            for (long now = begin; now - begin < 2_700_000_000L; last = now) {
                if (number == 0) number(0);
                send(channel);
                if (number > 0) check(number - 1);
                number(++number);
                receive(channel);
                now = System.nanoTime();
                if (now - begin > 2_500_000_000L) times[kept++] = now - last;
            }
            channel.close();
            child.waitFor();
            Arrays.sort(times, 0, kept);
            System.out.println(times[kept / 2]);
        }
    }
}
