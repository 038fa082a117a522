import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.params.XAddParams;

/**
 * Jedis with a server: a broad script, one line for each answer, in both protocols. The test compares
 * what it prints through the sidecar and directly. Argument: the port.
 */
public final class Session {
    private static final String SMALL = "{\"sku\":\"SKU-1\",\"price\":12.50},".repeat(20);
    private static final String LARGE = SMALL.repeat(1000);

    private static void say(Object value) {
        Object shown = value instanceof Map<?, ?> map ? new TreeMap<>(map) : value;
        System.out.println(shown);
    }

    private static void failing(Runnable call) {
        try {
            call.run();
            say("done");
        } catch (JedisDataException error) {
            say(error.getMessage().split(" ")[0]);
        }
    }

    private static Jedis connect(int port, RedisProtocol protocol) {
        return new Jedis(
            new HostAndPort("127.0.0.1", port),
            DefaultJedisClientConfig.builder().protocol(protocol).build());
    }

    private static void session(int port, RedisProtocol protocol) throws Exception {
        byte[] binary = new byte[70000];
        for (int at = 0; at < binary.length; at += 1) {
            binary[at] = (byte) (at * 7);
        }
        try (Jedis jedis = connect(port, protocol); Jedis other = connect(port, protocol)) {
            jedis.flushAll();
            say(jedis.set("cart:1", SMALL));
            say(jedis.get("cart:1"));
            say(jedis.setGet("cart:1", LARGE, SetParams.setParams().ex(1000)));
            say(jedis.ttl("cart:1") > 900);
            say(jedis.getrange("cart:1", 3, 40));
            say(jedis.strlen("cart:1"));
            say(jedis.mset("cart:2", LARGE, "plain", SMALL));
            say(jedis.mget("cart:1", "none", "cart:2", "plain"));
            say(jedis.set("cart:b".getBytes(), binary));
            say(Arrays.equals(jedis.get("cart:b".getBytes()), binary));
            say(jedis.hset("cart:h", Map.of("a", SMALL, "b", LARGE, "c", "5")));
            say(jedis.hgetAll("cart:h"));
            say(jedis.hincrBy("cart:h", "c", 2));
            say(jedis.hmget("cart:h", "a", "none", "c"));
            say(jedis.setnx("cart:1", SMALL));
            say(jedis.setGet("cart:3", SMALL));
            say(jedis.getDel("cart:3"));
            say(jedis.incr("cart:n"));
            say(jedis.incrByFloat("cart:n", 0.5));
            say(jedis.rpush("cart:l", SMALL, "x", "y"));
            say(jedis.lrange("cart:l", 0, -1));
            say(jedis.blpop(1, "cart:l"));
            say(jedis.zadd("cart:z", Map.of("a", 1.0, "b", 2.5)));
            say(jedis.zrangeWithScores("cart:z", 0, -1));
            XAddParams first = XAddParams.xAddParams().id("1-1");
            say(jedis.xadd("cart:x", first, Map.of("f", SMALL)));
            say(jedis.xrange("cart:x", (StreamEntryID) null, null));
            say(jedis.rename("cart:2", "cart:22"));
            say(jedis.exists("cart:2", "cart:22"));
            say(jedis.type("cart:22"));
            TreeSet<String> keys = new TreeSet<>();
            String cursor = ScanParams.SCAN_POINTER_START;
            do {
                var found = jedis.scan(cursor, new ScanParams().match("cart:*").count(3));
                keys.addAll(found.getResult());
                cursor = found.getCursor();
            } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
            say(keys);
            Pipeline pipeline = jedis.pipelined();
            List<Response<String>> answers = new ArrayList<>();
            for (int number = 0; number < 1000; number += 1) {
                pipeline.set("cart:p" + number, SMALL + number);
                answers.add(pipeline.get("cart:p" + number));
            }
            pipeline.sync();
            answers.forEach(answer -> say(answer.get()));
            jedis.watch("cart:1");
            Transaction transaction = jedis.multi();
            transaction.get("cart:1");
            transaction.incr("count");
            transaction.hget("cart:h", "b");
            say(transaction.exec());
            jedis.watch("cart:1");
            other.set("cart:1", "changed");
            transaction = jedis.multi();
            transaction.get("cart:1");
            say(transaction.exec());
            failing(() -> jedis.lpush("cart:1", "x"));
            CountDownLatch subscribed = new CountDownLatch(1);
            List<String> heard = new ArrayList<>();
            Thread listening = new Thread(() -> {
                try (Jedis listener = connect(port, protocol)) {
                    listener.subscribe(new JedisPubSub() {
                        @Override
                        public void onSubscribe(String channel, int count) {
                            subscribed.countDown();
                        }

                        @Override
                        public void onMessage(String channel, String message) {
                            heard.add(message);
                            unsubscribe();
                        }
                    }, "news");
                }
            });
            listening.start();
            subscribed.await();
            say(jedis.publish("news", LARGE));
            listening.join();
            say(heard);
            say(jedis.eval("return {KEYS[1], ARGV[1] * 2}", List.of("plain"), List.of("21")));
            say(jedis.clientSetname("me"));
            say(jedis.clientGetname());
            jedis.select(3);
            say(jedis.get("cart:1"));
        }
    }

    public static void main(String[] arguments) throws Exception {
        session(Integer.parseInt(arguments[0]), RedisProtocol.RESP2);
        session(Integer.parseInt(arguments[0]), RedisProtocol.RESP3);
    }
}
