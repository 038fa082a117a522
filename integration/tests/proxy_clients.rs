//! Clients in four languages say the same through the sidecar and directly, and read the same.
//! redis-py, which compares by itself, is in `proxy_redis.rs`.

use cinch_integration::{ClientOf, Folder, Redis, Sidecar};

const SETTINGS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

#[track_caller]
fn reads_the_same(client: ClientOf) {
    let (redis, other, folder) = (Redis::start(), Redis::start(), Folder::new());
    let expected = client.session(other.socket().port());
    assert!(expected.lines().count() > 40, "{expected:.2000}");
    for connections in ["own", "shared"] {
        let settings =
            format!("{SETTINGS}[proxy.redis]\nupstream_connections = \"{connections}\"\n");
        let sidecar = Sidecar::start(&folder, &redis.host(), &settings);
        let said = client.session(sidecar.address.port());
        for (number, (line, expected)) in said.lines().zip(expected.lines()).enumerate() {
            assert!(
                line == expected,
                "{client:?}, {connections}, line {number}: {line:.300}\ndirectly: {expected:.300}"
            );
        }
        assert_eq!(said.lines().count(), expected.lines().count());
        let stored: usize = redis.run(&["strlen", "cart:22"]).parse().expect("a length");
        let plain: usize = other.run(&["strlen", "cart:22"]).parse().expect("a length");
        assert!(stored * 5 < plain, "{stored} of {plain}");
    }
}

#[test]
fn ioredis_reads_the_same() {
    reads_the_same(ClientOf::Node);
}

#[test]
fn go_redis_reads_the_same() {
    reads_the_same(ClientOf::Go);
}

#[test]
fn jedis_reads_the_same() {
    reads_the_same(ClientOf::Java);
}
