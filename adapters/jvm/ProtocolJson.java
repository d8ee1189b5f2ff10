// JSON as far as furlong's requests have it: Java's own library has none.

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

final class ProtocolJson {
    private final String text;
    private int at;

    private ProtocolJson(String text) {
        this.text = text;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> parse(String text) {
        return (Map<String, Object>) new ProtocolJson(text).value();
    }

    /** A text as JSON. */
    static String text(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            if (letter < ' ' || letter == '"' || letter == '\\') {
                json.append(String.format("\\u%04x", (int) letter));
            } else {
                json.append(letter);
            }
        }
        return json.append('"').toString();
    }

    /** What comes next, beside blanks. */
    private char next() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.charAt(at);
    }

    /** Whether this comes next; it is passed over if so. */
    private boolean passes(char letter) {
        boolean is = next() == letter;
        at += is ? 1 : 0;
        return is;
    }

    private Object value() {
        switch (next()) {
            case '{': {
                Map<String, Object> map = new HashMap<>();
                at++;
                while (!passes('}')) {
                    String key = string();
                    passes(':');
                    map.put(key, value());
                    passes(',');
                }
                return map;
            }
            case '[': {
                List<Object> list = new ArrayList<>();
                at++;
                while (!passes(']')) {
                    list.add(value());
                    passes(',');
                }
                return list;
            }
            case '"':
                return string();
            default:
                int begin = at;
                while (at < text.length() && ",]} \t".indexOf(text.charAt(at)) < 0) {
                    at++;
                }
                String word = text.substring(begin, at);
                return switch (word) {
                    case "true" -> Boolean.TRUE;
                    case "false" -> Boolean.FALSE;
                    case "null" -> null;
                    default -> word.matches("-?\\d+") ? (Number) Long.valueOf(word) : Double.valueOf(word);
                };
        }
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        passes('"');
        while (text.charAt(at) != '"') {
            char letter = text.charAt(at++);
            if (letter == '\\') {
                letter = text.charAt(at++);
                switch (letter) {
                    case 'b' -> letter = '\b';
                    case 'f' -> letter = '\f';
                    case 'n' -> letter = '\n';
                    case 'r' -> letter = '\r';
                    case 't' -> letter = '\t';
                    case 'u' -> {
                        letter = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                        at += 4;
                    }
                    default -> { }
                }
            }
            string.append(letter);
        }
        at++;
        return string.toString();
    }
}
