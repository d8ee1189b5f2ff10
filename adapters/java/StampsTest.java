// Tests the stamps with ../stamps.json, which furlong's own code made: java -cp classes StampsTest.

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

final class StampsTest {
    private StampsTest() {}

    private interface Checks {
        void run() throws Protocol.Failure;
    }

    private static String fault(Checks checks) {
        try {
            checks.run();
            return "none";
        } catch (Protocol.Failure failure) {
            return failure.fault;
        }
    }

    private static void expect(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    public static void main(String[] arguments) throws Exception {
        var vectors = (List<?>) ProtocolJson.parse("{\"all\":" + Files.readString(Path.of("../stamps.json")) + "}").get("all");
        for (Object one : vectors) {
            var vector = (Map<?, ?>) one;
            byte[] sent = HexFormat.of().parseHex((String) vector.get("bytes"));
            int size = sent.length, number = ((Number) vector.get("number")).intValue();
            var stamp = new Protocol.Stamp(Long.parseUnsignedLong((String) vector.get("stamp"), 16));
            ByteBuffer message = Protocol.message(size);
            stamp.writeAll(message, number);
            byte[] written = new byte[size];
            message.get(0, written);
            expect(HexFormat.of().formatHex(written).equals(vector.get("bytes")), vector);
            stamp.check(message, size, number);
            stamp.checkAll(message, size, number);
            for (int at = 0; at < size; at++) {
                ByteBuffer damaged = Protocol.message(size).put(0, sent);
                damaged.put(at, (byte) (sent[at] ^ 0x80));
                String fault = fault(() -> stamp.checkAll(damaged, size, number));
                expect(size < 8 ? !fault.equals("none") : fault.equals("flipped"), vector + " " + at + " " + fault);
            }
            expect(fault(() -> stamp.check(message, size - 1, number)).equals("truncated"), vector);
            stamp.write(message, number + 1);
            expect(fault(() -> stamp.check(message, size, number)).equals("lost"), vector);
            stamp.write(message, number - 1);
            expect(fault(() -> stamp.check(message, size, number)).equals("repeated"), vector);
        }
        System.out.println(vectors.size() + " vectors");
    }
}
