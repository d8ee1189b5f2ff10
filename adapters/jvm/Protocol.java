// furlong's adapter protocol, version 1: the conversation, the stamps and the loops.
//
// A program gives `run` its row: its name as in the manifest, its claims as JSON, and what opens an end of it.

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.FileReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

final class Protocol {
    /** How far a number may be off and still count as another message's rather than as damage. */
    static final int NEAR = 64;

    private Protocol() {}

    /** What the protocol calls an error: a fault by its name, and the detail that the row shows. */
    static final class Failure extends IOException {
        private static final long serialVersionUID = 1;
        final String fault;

        Failure(String fault, String detail) {
            super(detail);
            this.fault = fault;
        }
    }

    /** One end of a mechanism. Messages are from 0 to a buffer's capacity. */
    interface End {
        void send(ByteBuffer message) throws IOException;

        /** Gives how many bytes came. */
        int receive(ByteBuffer message) throws IOException;

        void close() throws IOException;

        /** Processes that take part beside the roles, as the protocol lists them: JSON objects with commas between. */
        default String processes() {
            return "";
        }
    }

    interface Opens {
        End open(SetUp setUp) throws IOException, InterruptedException;
    }

    /**
     * A row of the manifest. What is not said in its claims, as JSON, is as the protocol has it; `library` is what is inside
     * beside Java, with its version, as a member of a JSON object with a comma behind it.
     */
    record Row(String name, boolean alone, String waits, String library, String claims, Opens opens) {
        Row(String name, boolean alone, String waits, String claims, Opens opens) {
            this(name, alone, waits, "", claims, opens);
        }

        String shape() {
            return alone ? "self" : "pair";
        }
    }

    /** What furlong asks for, seen from one role. */
    static final class SetUp {
        final String role, pattern, wait, folder, name;
        final int ownSize, otherSize;
        final int[] sizes;
        final Stamp own, other;

        SetUp(Map<String, Object> request) {
            role = (String) request.get("role");
            pattern = (String) request.get("pattern");
            wait = (String) request.get("wait");
            folder = (String) request.get("folder");
            name = (String) request.get("name");
            sizes = ((List<?>) request.get("sizes_bytes")).stream().mapToInt(size -> ((Number) size).intValue()).toArray();
            int mine = role.equals("responder") ? 1 : 0, theirs = role.equals("both") ? 0 : 1 - mine;
            List<?> words = (List<?>) request.get("stamps");
            ownSize = sizes[mine];
            otherSize = sizes[theirs];
            own = new Stamp(Long.parseUnsignedLong((String) words.get(mine), 16));
            other = new Stamp(Long.parseUnsignedLong((String) words.get(theirs), 16));
        }
    }

    static ByteBuffer message(int size) {
        return ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** What the messages of one direction carry. */
    static final class Stamp {
        private final long word;
        /** What a verified message is compared with. */
        private ByteBuffer sent;

        Stamp(long word) {
            this.word = word;
        }

        private static long mix(long x) {
            x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
            x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
            return x ^ x >>> 31;
        }

        private long head(int number) {
            return (number & 0xffffffffL) | (long) (number ^ (int) (word >>> 32)) << 32;
        }

        private long tail(int number) {
            return Long.rotateLeft(word, 17) ^ (number & 0xffffffffL);
        }

        /** Writes head and end. */
        void write(ByteBuffer message, int number) {
            int size = message.capacity();
            if (size < 8) {
                partial(message, 0, head(number));
                return;
            }
            message.putLong(0, head(number));
            if (size >= 16) {
                message.putLong(size - 8, tail(number));
            }
        }

        private static void partial(ByteBuffer message, int at, long word) {
            for (int i = at; i < message.capacity(); i++) {
                message.put(i, (byte) (word >>> 8 * (i - at)));
            }
        }

        /** Writes every byte. */
        void writeAll(ByteBuffer message, int number) {
            long key = word + ((long) number << 32);
            int whole = message.capacity() & ~7;
            for (int at = 0; at < whole; at += 8) {
                message.putLong(at, mix(key ^ (at >>> 3) * 0x9e3779b97f4a7c15L));
            }
            partial(message, whole, mix(key ^ (whole >>> 3) * 0x9e3779b97f4a7c15L));
            write(message, number);
        }

        /** Whether the first bytes are those of the message with this number. */
        private boolean headHolds(ByteBuffer message, int number) {
            if (message.capacity() >= 8) {
                return message.getLong(0) == head(number);
            }
            for (int i = 0; i < message.capacity(); i++) {
                if (message.get(i) != (byte) (head(number) >>> 8 * i)) {
                    return false;
                }
            }
            return true;
        }

        /** Checks length, head and end of a message, of which so many bytes came. */
        void check(ByteBuffer message, int received, int number) throws Failure {
            int size = message.capacity();
            boolean tailHolds = size < 16 || message.getLong(size - 8) == tail(number);
            if (received != size || !headHolds(message, number) || !tailHolds) {
                throw explain(message, received, number);
            }
        }

        /** Checks every byte. */
        void checkAll(ByteBuffer message, int received, int number) throws Failure {
            check(message, received, number);
            if (sent == null) {
                sent = message(message.capacity());
            }
            writeAll(sent, number);
            if (!message.clear().equals(sent)) {
                throw flipped(message, sent, number);
            }
        }

        /** What happened to a message that is not the one with this number. */
        private Failure explain(ByteBuffer message, int received, int number) {
            int size = message.capacity();
            if (received != size) {
                return new Failure("truncated", "message " + number + " has " + received + " bytes instead of " + size);
            }
            for (int off = 1; off <= NEAR && !headHolds(message, number); off++) {
                int later = number + off, earlier = number - off;
                if (headHolds(message, later)) {
                    return new Failure("lost", "message " + later + " arrived instead of " + number + ", which was lost");
                }
                if (headHolds(message, earlier)) {
                    return new Failure("repeated", "message " + earlier + " arrived again instead of " + number);
                }
            }
            ByteBuffer sent = message(size);
            sent.put(0, message, 0, size);
            write(sent, number);
            return flipped(message, sent, number);
        }

        private static Failure flipped(ByteBuffer message, ByteBuffer sent, int number) {
            int at = message.clear().mismatch(sent);
            return new Failure("flipped", "message " + number + " differs from the sent message, first at byte " + at);
        }
    }

    /** One end and its messages. */
    static final class Role {
        private final SetUp setUp;
        private final End end;
        private final ByteBuffer outgoing, incoming;
        private long done;
        private boolean verify;
        private long[] readings = {};
        private int taken;

        Role(SetUp setUp, End end) {
            this.setUp = setUp;
            this.end = end;
            outgoing = message(setUp.ownSize);
            incoming = message(setUp.otherSize);
        }

        /** Exchanges messages and gives how many of those received were verified. */
        long exchange(long messages, long batch, boolean verify) throws IOException {
            this.verify = verify;
            boolean oneWay = setUp.pattern.equals("one-way"), initiator = setUp.role.equals("initiator");
            long every = batch > 0 ? batch : messages;
            readings = new long[(int) (messages / every) + 1];
            taken = 0;
            long first = done + 1, last = done + messages;
            if (setUp.role.equals("both") && oneWay) {
                sendAndReceive(first, last, every);
            } else if (setUp.role.equals("responder")) {
                if (oneWay) {
                    receiveAll(first, last, every);
                } else {
                    respond(first, last);
                }
            } else if (oneWay) {
                sendAll(first, last);
            } else {
                initiate(first, last, every);
            }
            done = last;
            if (batch == 0) {
                taken = 0;
            }
            return verify && !(oneWay && initiator) ? messages : 0;
        }

        private void stamp(long number) {
            if (verify) {
                setUp.own.writeAll(outgoing, (int) number);
            } else {
                setUp.own.write(outgoing, (int) number);
            }
        }

        private void check(int received, long number) throws Failure {
            if (verify) {
                setUp.other.checkAll(incoming, received, (int) number);
            } else {
                setUp.other.check(incoming, received, (int) number);
            }
        }

        private void read() {
            readings[taken++] = System.nanoTime();
        }

        private void initiate(long first, long last, long batch) throws IOException {
            int received = 0;
            long inBatch = batch;
            stamp(first);
            read();
            for (long number = first; number <= last; number++) {
                end.send(outgoing);
                if (number > first) {
                    check(received, number - 1);
                }
                stamp(number + 1);
                received = end.receive(incoming);
                if (--inBatch == 0) {
                    read();
                    inBatch = batch;
                }
            }
            check(received, last);
        }

        private void respond(long first, long last) throws IOException {
            stamp(first);
            for (long number = first; number <= last; number++) {
                int received = end.receive(incoming);
                end.send(outgoing);
                check(received, number);
                stamp(number + 1);
            }
        }

        private void sendAll(long first, long last) throws IOException {
            read();
            for (long number = first; number <= last; number++) {
                stamp(number);
                end.send(outgoing);
            }
        }

        private void receiveAll(long first, long last, long batch) throws IOException {
            long inBatch = batch;
            for (long number = first; number <= last; number++) {
                check(end.receive(incoming), number);
                if (--inBatch == 0) {
                    read();
                    inBatch = batch;
                }
            }
        }

        private void sendAndReceive(long first, long last, long batch) throws IOException {
            long inBatch = batch;
            read();
            for (long number = first; number <= last; number++) {
                stamp(number);
                end.send(outgoing);
                check(end.receive(incoming), number);
                if (--inBatch == 0) {
                    read();
                    inBatch = batch;
                }
            }
        }
    }

    /** Answers furlong's requests until there are no more. */
    static void run(Row row) throws Exception {
        var requests = new BufferedReader(new FileReader(System.getenv("FURLONG_READ"), StandardCharsets.UTF_8));
        var replies = new FileOutputStream(System.getenv("FURLONG_WRITE"));
        Role role = null;
        for (String line; (line = requests.readLine()) != null; ) {
            Map<String, Object> request = ProtocolJson.parse(line);
            String op = (String) request.get("op"), reply;
            Exception failed = null;
            try {
                switch (op) {
                    case "hello" -> reply = hello(row);
                    case "set-up" -> {
                        refuse(row, request);
                        SetUp setUp = new SetUp(request);
                        End end = row.opens.open(setUp);
                        role = new Role(setUp, end);
                        reply = "{\"op\":\"ready\",\"effective\":{\"pattern\":" + ProtocolJson.text(setUp.pattern) + ",\"wait\":"
                                + ProtocolJson.text(setUp.wait) + ",\"sizes_bytes\":" + Arrays.toString(setUp.sizes) + "},\"processes\":[" + end.processes() + "]}";
                    }
                    case "exchange" -> {
                        long messages = ((Number) request.get("messages")).longValue();
                        long batch = ((Number) request.get("batch")).longValue();
                        if (role == null) {
                            throw new Failure("error", "nothing is set up");
                        }
                        long verified = role.exchange(messages, batch, (Boolean) request.get("verify"));
                        reply = "{\"op\":\"exchanged\",\"messages\":" + messages + ",\"verified\":" + verified + "}";
                    }
                    case "readings" -> {
                        long[] readings = role == null ? new long[0] : Arrays.copyOf(role.readings, role.taken);
                        reply = "{\"op\":\"readings\",\"clock_ns\":" + Arrays.toString(readings) + "}";
                    }
                    case "finish" -> {
                        if (role != null) {
                            role.end.close();
                        }
                        role = null;
                        reply = "{\"op\":\"finished\"}";
                    }
                    default -> throw new Failure("unsupported", "the request " + op + " is unknown");
                }
            } catch (Exception error) {
                failed = error;
                String fault = error instanceof Failure failure ? failure.fault : "error";
                String detail = error instanceof Failure ? error.getMessage() : error.toString();
                reply = "{\"op\":\"error\",\"fault\":" + ProtocolJson.text(fault) + ",\"detail\":" + ProtocolJson.text(detail) + "}";
            }
            replies.write((reply + "\n").getBytes(StandardCharsets.UTF_8));
            if (failed != null && role != null) {
                // The other role may wait for a message that never comes.
                role.end.close();
                role = null;
            }
            if (op.equals("finish")) {
                break;
            }
        }
        if (role != null) {
            role.end.close();
        }
        System.exit(0);
    }

    private static String hello(Row row) {
        String version = ProtocolJson.text(Runtime.version().toString()), machine = ProtocolJson.text(System.getProperty("java.vm.name"));
        return "{\"op\":\"hello\",\"protocol\":1,\"name\":" + ProtocolJson.text(row.name) + ",\"versions\":{" + row.library + "\"Java\":" + version
                + ",\"virtual machine\":" + machine + "},\"clock_ns\":" + System.nanoTime() + ",\"shape\":" + ProtocolJson.text(row.shape())
                + ",\"claims\":{\"waits\":[" + ProtocolJson.text(row.waits) + "],\"alone\":" + row.alone + "," + row.claims + "}}";
    }

    private static void refuse(Row row, Map<String, Object> request) throws Failure {
        if (!row.waits.equals(request.get("wait"))) {
            throw new Failure("unsupported", "it cannot wait by " + request.get("wait"));
        }
        if (!List.of("round-trip", "one-way", "request").contains(request.get("pattern"))) {
            throw new Failure("unsupported", "it has no pattern " + request.get("pattern"));
        }
        for (Object size : (List<?>) request.get("sizes_bytes")) {
            long bytes = ((Number) size).longValue();
            if (bytes < 1 || bytes > Integer.MAX_VALUE - 64) {
                throw new Failure("unsupported", "a message has at least one byte, and fits in a buffer");
            }
        }
    }
}
