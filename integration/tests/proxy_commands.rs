//! Every command of the server, one by one: the bytes that a client reads through the sidecar are
//! those that it reads directly, on keys of no namespace, in both protocols and in both ways to the
//! server. On keys of a namespace each does what its row in `spec/redis.md` says.
//!
//! Both clients talk to one server, one after the other, because the order of members and of
//! commands differs from server to server.

use std::collections::BTreeSet;

use cinch_integration::{Folder, Redis, RespClient, Sidecar, resp_command};

const SETTINGS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

/// Calls, in groups that each have a connection of their own and an empty server.
const GROUPS: &[&[&str]] = &[
    // Strings and bits.
    &[
        "SET a 12 EX 1000",
        "GET a",
        "APPEND a 34",
        "STRLEN a",
        "GETRANGE a 1 2",
        "SUBSTR a 0 0",
        "SETRANGE a 1 xx",
        "GETSET a 5",
        "GETEX a PERSIST",
        "INCR a",
        "INCRBY a 5",
        "DECR a",
        "DECRBY a 2",
        "INCRBYFLOAT a 0.5",
        "SETNX a 1",
        "SETEX b 100 v",
        "PSETEX c 100000 v",
        "MSET d 1 e 2",
        "MSETNX d 1 f 2",
        "MGET a d none",
        "GETDEL d",
        "SETBIT bits 7 1",
        "GETBIT bits 7",
        "BITCOUNT bits",
        "BITPOS bits 1",
        "BITFIELD bits SET u8 0 7 GET u8 0",
        "BITFIELD_RO bits GET u8 0",
        "BITOP NOT stib bits",
        "LCS b c LEN",
        "SET a v GET",
        "SET a v IFEQ x",
        "GET",
        "SET a",
    ],
    // Keys.
    &[
        "SET a 1",
        "DUMP a",
        "COPY a b",
        "RENAME b c",
        "RENAMENX c d",
        "EXISTS a d",
        "TYPE a",
        "TOUCH a",
        "EXPIRE a 1000",
        "TTL a",
        "EXPIREAT a 33177117420",
        "EXPIRETIME a",
        "PEXPIREAT a 33177117420000",
        "PEXPIRETIME a",
        "PEXPIRE a 1000000",
        "PTTL a",
        "PERSIST a",
        "OBJECT ENCODING a",
        "OBJECT REFCOUNT a",
        "OBJECT IDLETIME a",
        "OBJECT FREQ a",
        "OBJECT HELP",
        "MEMORY USAGE a",
        "MEMORY DOCTOR",
        "MEMORY STATS",
        "MEMORY MALLOC-STATS",
        "MEMORY PURGE",
        "MEMORY HELP",
        "DEL d",
        "KEYS *",
        "SCAN 0",
        "RANDOMKEY",
        "MOVE a 1",
        "SELECT 1",
        "DBSIZE",
        "SWAPDB 0 1",
        "SELECT 0",
        "UNLINK a",
        "RESTORE x 0 nonsense",
        "RESTORE-ASKING x 0 nonsense",
        "MIGRATE 127.0.0.1 1 x 0 10",
        "FLUSHDB",
        "FLUSHALL",
        "RPUSH list 3 1 2",
        "SORT list",
        "SORT_RO list DESC",
        "WAIT 0 0",
    ],
    // Hashes.
    &[
        "HSET h f 1 g v",
        "HMSET h i 2",
        "HSETNX h f 2",
        "HGET h f",
        "HMGET h f none g",
        "HGETALL h",
        "HKEYS h",
        "HVALS h",
        "HLEN h",
        "HEXISTS h f",
        "HSTRLEN h g",
        "HINCRBY h f 2",
        "HINCRBYFLOAT h f 0.5",
        "HSCAN h 0",
        "HDEL h f g",
        "HRANDFIELD h",
        "HRANDFIELD h 1 WITHVALUES",
    ],
    // Lists.
    &[
        "RPUSH l a b c d e f g h i j",
        "LPUSH l z",
        "LPUSHX l y",
        "RPUSHX l k",
        "LLEN l",
        "LRANGE l 0 -1",
        "LINDEX l 1",
        "LINSERT l BEFORE a w",
        "LSET l 0 v",
        "LPOS l b",
        "LREM l 1 c",
        "LTRIM l 0 9",
        "LPOP l",
        "RPOP l 2",
        "LMOVE l m LEFT RIGHT",
        "RPOPLPUSH l m",
        "LMPOP 1 l LEFT",
        "BLPOP l 1",
        "BRPOP l 1",
        "BLMOVE l m LEFT RIGHT 1",
        "BRPOPLPUSH l m 1",
        "BLMPOP 1 1 l LEFT",
        "BLPOP none 0.01",
        "BLMPOP 0.01 1 none LEFT",
        "LRANGE m 0 -1",
    ],
    // Sets.
    &[
        "SADD s a b c",
        "SADD t b c d",
        "SCARD s",
        "SISMEMBER s a",
        "SMISMEMBER s a z",
        "SMEMBERS s",
        "SINTER s t",
        "SINTERCARD 2 s t",
        "SINTERSTORE u s t",
        "SUNION s t",
        "SUNIONSTORE v s t",
        "SDIFF s t",
        "SDIFFSTORE w s t",
        "SMOVE s t a",
        "SREM s b",
        "SSCAN s 0",
        "SRANDMEMBER s",
        "SPOP s",
    ],
    // Sorted sets.
    &[
        "ZADD z 1 a 2 b 3 c 4 d 5 e 6 f 7 g",
        "ZADD y 1 b 2 c",
        "ZCARD z",
        "ZSCORE z a",
        "ZMSCORE z a none",
        "ZINCRBY z 0.5 a",
        "ZRANK z a",
        "ZREVRANK z a",
        "ZCOUNT z 1 3",
        "ZLEXCOUNT z - +",
        "ZRANGE z 0 -1 WITHSCORES",
        "ZREVRANGE z 0 1",
        "ZRANGEBYSCORE z 1 3",
        "ZREVRANGEBYSCORE z 3 1",
        "ZRANGEBYLEX y - +",
        "ZREVRANGEBYLEX y + -",
        "ZRANGESTORE x z 0 1",
        "ZINTER 2 z y WITHSCORES",
        "ZINTERCARD 2 z y",
        "ZINTERSTORE w 2 z y",
        "ZUNION 2 z y",
        "ZUNIONSTORE v 2 z y",
        "ZDIFF 2 z y",
        "ZDIFFSTORE u 2 z y",
        "ZSCAN z 0",
        "ZREM z a",
        "ZREMRANGEBYRANK z 0 0",
        "ZREMRANGEBYSCORE z 3 3",
        "ZREMRANGEBYLEX x - [a",
        "ZPOPMIN z",
        "ZPOPMAX z",
        "ZMPOP 1 z MIN",
        "BZPOPMIN z 1",
        "BZPOPMAX y 1",
        "BZMPOP 1 1 y MIN",
        "ZADD one 1 a",
        "ZRANDMEMBER one",
    ],
    // Streams.
    &[
        "XADD x 1-1 f v",
        "XADD x 2-1 f w",
        "XLEN x",
        "XRANGE x - +",
        "XREVRANGE x + -",
        "XREAD COUNT 1 STREAMS x 0",
        "XGROUP CREATE x g 0",
        "XREADGROUP GROUP g c STREAMS x >",
        "XPENDING x g",
        "XACK x g 1-1",
        "XCLAIM x g d 0 2-1",
        "XAUTOCLAIM x g e 0 0",
        "XINFO STREAM x",
        "XINFO GROUPS x",
        "XINFO CONSUMERS x g",
        "XSETID x 9-9",
        "XDEL x 1-1",
        "XTRIM x MAXLEN 0",
        "XGROUP DESTROY x g",
        "XGROUP HELP",
        "XREAD BLOCK 5 STREAMS x $",
    ],
    // What else has values.
    &[
        "GEOADD g 13.361389 38.115556 p 15.087269 37.502669 c",
        "GEOPOS g p",
        "GEODIST g p c",
        "GEOHASH g p",
        "GEORADIUS g 15 37 200 km",
        "GEORADIUS_RO g 15 37 200 km",
        "GEORADIUSBYMEMBER g p 200 km",
        "GEORADIUSBYMEMBER_RO g p 200 km",
        "GEOSEARCH g FROMMEMBER p BYRADIUS 200 km",
        "GEOSEARCHSTORE o g FROMMEMBER p BYRADIUS 9 km",
        "PFADD h a b",
        "PFCOUNT h",
        "PFMERGE i h",
        "PFDEBUG ENCODING h",
        "PFSELFTEST",
    ],
    // Scripts and functions.
    &[
        "EVAL return(1) 0",
        "EVAL_RO return(KEYS[1]) 1 k",
        "EVALSHA 0000000000000000000000000000000000000000 0",
        "EVALSHA_RO 0000000000000000000000000000000000000000 0",
        "SCRIPT LOAD return(2)",
        "SCRIPT EXISTS 7f923f79fe76194c868d7e1d0820de36700eb649",
        "SCRIPT FLUSH",
        "SCRIPT KILL",
        "SCRIPT HELP",
        "FUNCTION LIST",
        "FUNCTION STATS",
        "FUNCTION DUMP",
        "FUNCTION FLUSH",
        "FUNCTION KILL",
        "FUNCTION DELETE none",
        "FUNCTION LOAD nonsense",
        "FUNCTION HELP",
        "FCALL f 0",
        "FCALL_RO f 0",
    ],
    // Transactions.
    &[
        "MULTI", "SET a 1", "INCR a", "EXEC", "MULTI", "GET a", "DISCARD", "WATCH a", "UNWATCH",
        "EXEC", "DISCARD", "MULTI", "NOSUCH", "EXEC", "MULTI", "MULTI", "WATCH a", "EXEC",
    ],
    // The connection.
    &[
        "PING",
        "PING x",
        "ECHO x",
        "AUTH nobody x",
        "AUTH x",
        "CLIENT SETNAME me",
        "CLIENT GETNAME",
        "CLIENT ID",
        "CLIENT INFO",
        "CLIENT LIST",
        "CLIENT NO-EVICT on",
        "CLIENT TRACKING on",
        "CLIENT TRACKINGINFO",
        "CLIENT TRACKING off",
        "CLIENT GETREDIR",
        "CLIENT CACHING yes",
        "CLIENT UNBLOCK 0",
        "CLIENT PAUSE 1",
        "CLIENT UNPAUSE",
        "CLIENT KILL ID 0",
        "CLIENT HELP",
        "CLIENT REPLY nonsense",
        "READONLY",
        "READWRITE",
        "ASKING",
        "RESET",
        "HELLO 9",
    ],
    &["PING", "QUIT"],
    // Messages: what answers to each channel, and PING in between.
    &[
        "PUBLISH news x",
        "SPUBLISH shard x",
        "PUBSUB CHANNELS",
        "PUBSUB NUMSUB news",
        "PUBSUB NUMPAT",
        "PUBSUB SHARDCHANNELS",
        "PUBSUB SHARDNUMSUB shard",
        "PUBSUB HELP",
        "UNSUBSCRIBE",
        "PUNSUBSCRIBE none",
        "SUNSUBSCRIBE",
        "SUBSCRIBE news more",
        "PSUBSCRIBE n*",
        "SSUBSCRIBE shard",
        "UNSUBSCRIBE",
        "PUNSUBSCRIBE",
        "SUNSUBSCRIBE shard",
    ],
    // The server.
    &[
        "ACL WHOAMI",
        "ACL CAT",
        "ACL CAT scripting",
        "ACL LIST",
        "ACL USERS",
        "ACL SETUSER bob on >pw ~* +@all",
        "ACL GETUSER bob",
        "ACL DRYRUN bob get x",
        "ACL DELUSER bob",
        "ACL GENPASS",
        "ACL LOG",
        "ACL HELP",
        "COMMAND",
        "COMMAND COUNT",
        "COMMAND INFO get nosuch",
        "COMMAND DOCS get",
        "COMMAND LIST",
        "COMMAND HELP",
        "COMMAND GETKEYS MSET a 1 b 2",
        "COMMAND GETKEYSANDFLAGS MSET a 1 b 2",
        "CONFIG GET maxmemory*",
        "CONFIG SET slowlog-max-len 10",
        "CONFIG RESETSTAT",
        "CONFIG REWRITE",
        "CONFIG HELP",
        "CLUSTER INFO",
        "CLUSTER KEYSLOT a",
        "CLUSTER SLOTS",
        "CLUSTER HELP",
        "LATENCY LATEST",
        "LATENCY HISTORY x",
        "LATENCY GRAPH x",
        "LATENCY DOCTOR",
        "LATENCY RESET",
        "LATENCY HISTOGRAM",
        "LATENCY HELP",
        "SLOWLOG RESET",
        "SLOWLOG LEN",
        "SLOWLOG GET",
        "SLOWLOG HELP",
        "MODULE LIST",
        "MODULE LOAD none",
        "MODULE HELP",
        "LOLWUT",
        "TIME",
        "ROLE",
        "LASTSAVE",
        "INFO",
        "DEBUG SLEEP 0",
        "REPLICAOF NO ONE",
        "SLAVEOF NO ONE",
        "FAILOVER ABORT",
        "SHUTDOWN ABORT",
        "SAVE",
        "BGSAVE",
        "BGREWRITEAOF",
    ],
    &["MONITOR"],
];

/// Calls whose replies say what the moment or the connection is, so that no two are alike. Only the
/// kinds of these are compared.
const DIFFER: &[(&str, &str)] = &[
    ("ACL GENPASS", "random"),
    ("ACL LOG", "times"),
    ("BGREWRITEAOF", "may find another child at work"),
    ("BGSAVE", "may find another child at work"),
    ("CLIENT ID", "of this connection"),
    ("CLIENT INFO", "of this connection"),
    ("CLIENT LIST", "of this connection"),
    ("INFO", "of this moment"),
    ("LASTSAVE", "of this moment"),
    ("LATENCY DOCTOR", "of this moment"),
    ("LATENCY HISTOGRAM", "of this moment"),
    ("LOLWUT", "random"),
    ("MEMORY DOCTOR", "of this moment"),
    ("MEMORY MALLOC-STATS", "of this moment"),
    ("MEMORY STATS", "of this moment"),
    ("MEMORY USAGE", "of this moment"),
    ("OBJECT IDLETIME", "of this moment"),
    ("PTTL", "of this moment"),
    ("SAVE", "may find another child at work"),
    ("SLOWLOG GET", "of this moment"),
    ("TIME", "of this moment"),
    ("XINFO CONSUMERS", "milliseconds"),
];

/// Calls whose replies list what the server keeps in tables that it moves while it looks things up.
/// Their lines are compared without their order.
const REORDERED: [&str; 3] = ["COMMAND", "COMMAND LIST", "ACL CAT"];

/// Commands that no client may send through the sidecar.
const REFUSED: [&str; 3] = ["PSYNC ? -1", "REPLCONF capa eof", "SYNC"];

/// On keys of a namespace: one call of every command that does not simply pass. Those that are not
/// refused answer as the server does where payloads are plain.
const ON_KEYS: &[&str] = &[
    "SET cart:1 SMALL",
    "GET cart:1",
    "SET cart:1 LARGE GET",
    "GETSET cart:1 SMALL",
    "GETEX cart:1 PERSIST",
    "SETNX cart:2 LARGE",
    "SETEX cart:3 1000 LARGE",
    "PSETEX cart:4 100000 SMALL",
    "MSET cart:5 SMALL plain SMALL",
    "MSETNX cart:6 SMALL",
    "MGET cart:1 plain cart:3 none",
    "GETDEL cart:6",
    "STRLEN cart:3",
    "GETRANGE cart:1 3 40",
    "SUBSTR cart:1 3 40",
    "GETBIT cart:1 9",
    "BITCOUNT cart:1",
    "BITPOS cart:1 1",
    "BITFIELD_RO cart:1 GET u8 0",
    "HSET cart:h f LARGE",
    "HMSET cart:h f LARGE",
    "HSETNX cart:h g SMALL",
    "HDEL cart:h g",
    "HGET cart:h f",
    "HMGET cart:h f none",
    "HGETALL cart:h",
    "HVALS cart:h",
    "HSCAN cart:h 0",
    "HSTRLEN cart:h f",
    "HRANDFIELD cart:h 1 WITHVALUES",
    "COPY cart:1 cart:9",
    "RENAME cart:9 cart:8",
    "RENAMENX cart:8 cart:7",
    "GET cart:7",
    "APPEND cart:1 x",
    "SETRANGE cart:1 0 x",
    "SETBIT cart:1 0 1",
    "BITFIELD cart:1 GET u8 0",
    "BITOP NOT plain cart:1",
    "LCS cart:1 plain",
    "SORT cart:1",
    "SORT_RO cart:1",
    "EVAL return(1) 1 cart:1",
    "EVAL_RO return(1) 1 cart:1",
    "EVALSHA 0000000000000000000000000000000000000000 1 cart:1",
    "EVALSHA_RO 0000000000000000000000000000000000000000 1 cart:1",
    "FCALL f 1 cart:1",
    "FCALL_RO f 1 cart:1",
    "COPY cart:1 elsewhere",
    "RENAME cart:1 elsewhere",
    "RENAMENX cart:1 elsewhere",
];

fn words(line: &str) -> Vec<u8> {
    let (small, large) = (cart(20), cart(5_000));
    let words: Vec<&[u8]> = line
        .split(' ')
        .map(|word| match word {
            "SMALL" => small.as_bytes(),
            "LARGE" => large.as_bytes(),
            word => word.as_bytes(),
        })
        .collect();
    resp_command(&words)
}

fn cart(lines: usize) -> String {
    "{\"sku\":\"SKU-1\",\"price\":12.50,\"quantity\":1},".repeat(lines)
}

fn named(line: &str) -> String {
    line.split(' ').next().unwrap_or_default().to_uppercase()
}

fn differs(line: &str) -> bool {
    DIFFER.iter().any(|(start, _)| line == *start || line.starts_with(&format!("{start} ")))
}

fn sorted(reply: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = reply.split(|byte| *byte == b'\n').collect();
    lines.sort();
    lines
}

/// Both clients say a group of calls; what each is answered.
fn answers(client: &mut RespClient, group: &[&str], is_version_3: bool) -> Vec<Vec<u8>> {
    client.ask(&words("FLUSHALL"));
    if is_version_3 {
        client.ask(&words("HELLO 3"));
    }
    if group.contains(&"MULTI") {
        // What is queued is answered by EXEC, so that only the whole can be compared.
        return vec![client.ask(&group.iter().flat_map(|line| words(line)).collect::<Vec<u8>>())];
    }
    let last = group.last().map(|line| named(line)).unwrap_or_default();
    group
        .iter()
        .map(|line| match last.as_str() {
            // Nothing comes behind these.
            "QUIT" | "MONITOR" if named(line) == last => {
                client.send(&words(line));
                client.until(b"+OK\r\n")
            }
            _ => client.answer(&words(line)),
        })
        .collect()
}

#[track_caller]
fn same_answers(sidecar: &Sidecar, redis: &Redis, is_version_3: bool) {
    for group in GROUPS {
        let direct = answers(&mut RespClient::to(redis.socket()), group, is_version_3);
        let through = answers(&mut sidecar.client(), group, is_version_3);
        for ((line, said), expected) in group.iter().zip(&through).zip(&direct) {
            let shown = |bytes: &[u8]| bytes[..bytes.len().min(300)].escape_ascii().to_string();
            let is_same = match differs(line) {
                true => said.first() == expected.first() && !said.is_empty(),
                false if REORDERED.contains(line) => sorted(said) == sorted(expected),
                false => said == expected,
            };
            assert!(is_same, "{line}: {}\ndirectly: {}", shown(said), shown(expected));
        }
    }
}

#[test]
fn every_command_is_answered_byte_for_byte_as_directly() {
    let (redis, folder) = (Redis::start(), Folder::new());
    let own = Sidecar::start(&folder, &redis.host(), SETTINGS);
    same_answers(&own, &redis, false);
    same_answers(&own, &redis, true);
    let settings = format!("{SETTINGS}[proxy.redis]\nupstream_connections = \"shared\"\n");
    let shared = Sidecar::start(&folder, &redis.host(), &settings);
    same_answers(&shared, &redis, false);
    same_answers(&shared, &redis, true);
    for line in REFUSED {
        let said = own.client().line(line);
        assert!(said.starts_with("-CINCH REFUSED"), "{line}: {said}");
    }
    // No command of the server is left out.
    let list = redis.run(&["command", "list"]);
    let of_server: BTreeSet<String> =
        list.lines().filter(|name| !name.contains('|')).map(str::to_uppercase).collect();
    let lines = GROUPS.iter().copied().flatten().chain(&REFUSED);
    let asked: BTreeSet<String> = lines.map(|line| named(line)).collect();
    let own_words = ["FLUSHALL", "HELLO"].map(str::to_owned);
    let asked: BTreeSet<String> = asked.into_iter().chain(own_words).collect();
    let missing: Vec<&String> = of_server.difference(&asked).collect();
    assert!(missing.is_empty(), "{missing:?} of the server are not asked");
    assert!(of_server.len() > 230, "{}", of_server.len());
}

#[test]
fn on_keys_of_a_namespace_every_command_does_what_the_table_says() {
    let (redis, other, folder) = (Redis::start(), Redis::start(), Folder::new());
    let sidecar = Sidecar::start(&folder, &redis.host(), SETTINGS);
    let page = include_str!("../../spec/redis.md");
    let row = |name: &str| {
        let found = page.lines().find_map(|line| line.strip_prefix(&format!("| {name} | ")));
        found.unwrap_or_else(|| panic!("{name} has no row")).trim_end_matches(" |")
    };
    let (mut through, mut direct) = (sidecar.client(), RespClient::to(other.socket()));
    for line in ON_KEYS {
        let (said, expected) = (through.answer(&words(line)), direct.answer(&words(line)));
        let meaning = row(&named(line));
        let is_refused = match meaning.strip_prefix("passes within a namespace, refused") {
            Some(_) => line.ends_with("elsewhere"),
            None => meaning.starts_with("refused"),
        };
        let shown = said[..said.len().min(200)].escape_ascii();
        match is_refused {
            true => assert!(said.starts_with(b"-CINCH REFUSED"), "{line}: {shown}"),
            false => assert!(said == expected, "{line}: {shown}"),
        }
    }
    let asked: BTreeSet<String> = ON_KEYS.iter().map(|line| named(line)).collect();
    let list = redis.run(&["command", "list"]).to_uppercase();
    let of_server: BTreeSet<&str> = list.lines().collect();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let mut cells = line.trim_matches(['|', ' ']).split(" | ");
        let (Some(name), Some(meaning)) = (cells.next(), cells.next()) else { continue };
        let is_simple = meaning == "passes byte for byte" || meaning.starts_with("passes;");
        let is_ours = of_server.contains(name) && !is_simple && !meaning.contains("replicas");
        assert!(!is_ours || asked.contains(name), "{name} is not asked on a key of a namespace");
    }
    // The payloads were packed, or all this would be nothing.
    let stored: usize = redis.run(&["strlen", "cart:3"]).parse().expect("a length");
    let plain: usize = other.run(&["strlen", "cart:3"]).parse().expect("a length");
    assert!(stored < plain, "{stored} of {plain}");
}
