import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.dataformat.smile.SmileFactory;
import com.fasterxml.jackson.dataformat.smile.SmileGenerator;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Reads Smile with Jackson, whose format it is: what our own tests can't show.
 *
 * <p>Each line of standard input is {"encoding": "smile", "hex": "...", "json": "<payload>"}; lines
 * of other encodings are skipped. The bytes and the text are read token by token and compared,
 * numbers as decimals, so that the order of keys and duplicate keys count. Prints a line for each
 * mismatch and, last, "N passed, N failed"; exits 1 if anything failed.
 *
 * <p>With the argument "write" it prints, for each line, the bytes that Jackson itself writes for
 * the text (hexadecimal, a tab, the text), for the check the other way round.
 */
public final class SmileReader {
    private static final StreamReadConstraints NO_LIMITS =
            StreamReadConstraints.builder()
                    .maxNestingDepth(1_000_000)
                    .maxNumberLength(1_000_000)
                    .maxNameLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build();
    private static final JsonFactory JSON =
            JsonFactory.builder().streamReadConstraints(NO_LIMITS).build();
    private static final SmileFactory SMILE =
            SmileFactory.builder()
                    .streamReadConstraints(NO_LIMITS)
                    .enable(SmileGenerator.Feature.CHECK_SHARED_NAMES)
                    .enable(SmileGenerator.Feature.CHECK_SHARED_STRING_VALUES)
                    .build();

    private SmileReader() {}

    public static void main(String[] arguments) throws IOException {
        boolean write = arguments.length > 0 && arguments[0].equals("write");
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        int passed = 0;
        int failed = 0;
        int number = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            Case item = Case.parse(line);
            if (!"smile".equals(item.encoding)) {
                continue;
            }
            if (write) {
                out.println(HexFormat.of().formatHex(written(item.json)) + "\t" + item.json);
                continue;
            }
            String problem = difference(item);
            if (problem == null) {
                passed++;
            } else {
                failed++;
                out.println("line " + number + " (smile): " + problem);
            }
        }
        if (!write) {
            out.println(passed + " passed, " + failed + " failed");
        }
        out.flush();
        System.exit(failed > 0 ? 1 : 0);
    }

    /** Where bytes and text first differ, or null. */
    private static String difference(Case item) {
        byte[] bytes = HexFormat.of().parseHex(item.hex);
        int token = 0;
        try (JsonParser expected = JSON.createParser(item.json);
                JsonParser got = SMILE.createParser(bytes)) {
            while (true) {
                token++;
                JsonToken left = expected.nextToken();
                JsonToken right = got.nextToken();
                if (left == null && right == null) {
                    return null;
                }
                if (left == null || right == null || !same(left, expected, right, got)) {
                    return "token " + token + ": " + left + " " + shown(expected)
                            + ", but read as " + right + " " + shown(got);
                }
            }
        } catch (IOException | RuntimeException error) {
            return "token " + token + ": " + error;
        }
    }

    private static boolean same(
            JsonToken left, JsonParser expected, JsonToken right, JsonParser got)
            throws IOException {
        if (left.isNumeric()) {
            return right.isNumeric() && sameNumber(expected.getText(), got);
        }
        if (left != right) {
            return false;
        }
        return (left != JsonToken.VALUE_STRING && left != JsonToken.FIELD_NAME)
                || expected.getText().equals(got.getText());
    }

    private static boolean sameNumber(String text, JsonParser got) throws IOException {
        return switch (got.getNumberType()) {
            // A double stands for the text that it is the nearest one of; signs of zero count.
            case FLOAT, DOUBLE ->
                    Double.doubleToLongBits(Double.parseDouble(text))
                            == Double.doubleToLongBits(got.getDoubleValue());
            default -> new BigDecimal(text).compareTo(got.getDecimalValue()) == 0;
        };
    }

    private static String shown(JsonParser parser) throws IOException {
        String text = parser.currentToken() == null ? "" : parser.getText();
        return text.length() > 80 ? text.substring(0, 80) : text;
    }

    /** The bytes that Jackson writes for a text, numbers in the types that our encoder chooses. */
    private static byte[] written(String json) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonParser parser = JSON.createParser(json);
                SmileGenerator generator = SMILE.createGenerator(bytes)) {
            while (parser.nextToken() != null) {
                if (parser.currentToken().isNumeric()) {
                    writeNumber(parser, generator);
                } else {
                    generator.copyCurrentEvent(parser);
                }
            }
        }
        return bytes.toByteArray();
    }

    private static void writeNumber(JsonParser parser, SmileGenerator generator)
            throws IOException {
        String text = parser.getText();
        if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT && !text.equals("-0")) {
            generator.copyCurrentEvent(parser);
            return;
        }
        double nearest = Double.parseDouble(text);
        BigDecimal exact = new BigDecimal(text);
        boolean isExact = Double.isFinite(nearest)
                && new BigDecimal(Double.toString(nearest)).compareTo(exact) == 0;
        if (isExact) {
            generator.writeNumber(nearest);
        } else {
            generator.writeNumber(exact.stripTrailingZeros());
        }
    }

    /** One line of input. */
    private record Case(String encoding, String hex, String json) {
        static Case parse(String line) throws IOException {
            String encoding = null;
            String hex = null;
            String json = null;
            try (JsonParser parser = JSON.createParser(line)) {
                parser.nextToken();
                for (String key = parser.nextFieldName();
                        key != null;
                        key = parser.nextFieldName()) {
                    String value = parser.nextTextValue();
                    switch (key) {
                        case "encoding" -> encoding = value;
                        case "hex" -> hex = value;
                        case "json" -> json = value;
                        default -> { }
                    }
                }
            }
            return new Case(encoding, hex, json);
        }
    }
}
