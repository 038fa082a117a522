"""redis-py through the sidecar and directly: the same calls, the same answers, in both protocols.

Arguments: the port of the sidecar, and that of another server.
"""
import sys

import redis

SMALL = b'{"sku":"SKU-1","price":12.50},' * 20
LARGE = SMALL * 1_000


def session(port, protocol):
    client = redis.Redis(port=int(port), protocol=protocol)
    client.flushall()
    said = []
    say = said.append
    say(client.set("cart:1", SMALL))
    say(client.get("cart:1"))
    say(client.set("cart:1", LARGE, get=True))
    say(client.getrange("cart:1", 3, 40))
    say(client.strlen("cart:1"))
    say(client.mset({"cart:2": LARGE, "plain": SMALL}))
    say(client.mget("cart:1", "none", "cart:2", "plain"))
    say(client.hset("cart:h", mapping={"a": SMALL, "b": LARGE, "c": 5}))
    say(client.hgetall("cart:h"))
    say(client.hincrby("cart:h", "c", 2))
    say(dict(client.hscan_iter("cart:h")))
    say(sorted(client.scan_iter("cart:*")))
    with client.pipeline(transaction=False) as pipe:
        for number in range(1_000):
            pipe.set(f"cart:p{number}", SMALL + str(number).encode())
            pipe.get(f"cart:p{number}")
        say(pipe.execute())
    with client.pipeline(transaction=True) as pipe:
        pipe.watch("cart:1")
        say(pipe.strlen("cart:1"))
        pipe.multi()
        pipe.get("cart:1")
        pipe.incr("count")
        pipe.hgetall("cart:h")
        say(pipe.execute())
    other = redis.Redis(port=int(port), protocol=protocol)
    with client.pipeline(transaction=True) as pipe:
        pipe.watch("cart:1")
        other.set("cart:1", b"changed")
        pipe.multi()
        pipe.get("cart:1")
        try:
            say(pipe.execute())
        except redis.WatchError:
            say("watched")
    listener = client.pubsub(ignore_subscribe_messages=True)
    listener.subscribe("news")
    while listener.get_message(timeout=1) is not None:
        pass
    other.publish("news", LARGE)
    message = None
    while message is None:
        message = listener.get_message(timeout=10)
    say(message["data"])
    listener.close()
    other.lpush("cart:list", "x")
    say(client.blpop("cart:list", timeout=10))
    lock = client.lock("lock", timeout=10)
    say(lock.acquire())
    lock.release()
    say(client.register_script("return ARGV[1]")(keys=["plain"], args=["y"]))
    return said


through, direct = sys.argv[1:3]
for version in (2, 3):
    got, expected = session(through, version), session(direct, version)
    assert len(got) == len(expected)
    for number, (one, two) in enumerate(zip(got, expected)):
        assert one == two, f"RESP{version}, answer {number}: {one!r:.300} is not {two!r:.300}"
client = redis.Redis(port=int(through))
try:
    client.append("cart:1", "x")
    raise AssertionError("APPEND was not refused")
except redis.ResponseError as error:
    assert "REFUSED" in str(error), error
