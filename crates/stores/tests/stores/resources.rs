//! The failure modes of memory and of time (10 and 18 in spec/stores.md), against a real server:
//! dictionaries that would take the memory are refused, and large payloads keep nobody waiting.

use std::sync::Arc;

use cinch_integration::{Folder, Redis};
use cinch_rollout::live::Live;
use cinch_rollout::settings::{DICTIONARIES_BYTES_MAX, Sources};
use cinch_stores::{Client, Condition, Expiry};

use crate::failure_modes::{cart, client, read, redis, write};

/// Mode 10: a configuration whose dictionaries would take the memory is refused with the file that
/// is one too many, and the process goes on with the dictionaries that it has.
#[tokio::test(flavor = "multi_thread")]
async fn mode_10_dictionaries_that_would_take_the_memory_are_refused() {
    const EACH_BYTES: usize = 16 << 20;
    let server = Redis::start();
    let store = redis(&server).await;
    let folder = Folder::new();
    let names: Vec<String> = (0..5).map(|number| format!("{number}.dict")).collect();
    for (number, name) in names.iter().enumerate() {
        folder.write(name, vec![b'a' + number as u8; EACH_BYTES]);
    }
    let sources = |count: usize| Sources {
        text: format!(
            "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\ndictionaries = {:?}\n",
            &names[..count]
        ),
        path: folder.at("cinch.toml").into(),
        ..Sources::default()
    };
    assert_eq!(DICTIONARIES_BYTES_MAX, 4 * EACH_BYTES);
    let allowed = sources(4).configuration().expect("exactly the limit");
    let live = Arc::new(Live::new(allowed));
    let client = Client::new(Arc::clone(&store), Arc::clone(&live));
    write(&client, &cart(8)).await;
    let refused = live.reload(&sources(5)).expect_err("it is too much").to_string();
    assert!(refused.contains("4.dict: all dictionaries together have 83886080"), "{refused}");
    assert_eq!(live.refused(), 1);
    assert_eq!(live.snapshot().configuration.namespaces["carts"].dictionaries.len(), 4);
    assert_eq!(read(&client).await, Some(cart(8)));
}

/// Mode 18: while a large payload is packed and unpacked, the one thread that serves all calls
/// answers others.
#[tokio::test]
async fn mode_18_a_large_payload_keeps_nobody_waiting() {
    /// Without the protection others get their turn only while the server is waited for, which is
    /// once or twice; with it there are hundreds of calls.
    const OTHERS_MIN: usize = 12;
    let server = Redis::start();
    let store = redis(&server).await;
    let client = client(&store, "write = \"packed\"\ncompression_codec = \"GZIP\"\n");
    // It takes a good part of a second to pack and packs well, so that the server has little to do.
    let payload = cart(500_000);
    let (other, always) = (b"cart:other".as_slice(), &Condition::Always);
    client.put(other, "{}", None, always, Expiry::Keep).await.expect("it is written");

    let mut answered = 0;
    let others = async {
        loop {
            client.get(other).await.expect("it is read");
            answered += 1;
        }
    };
    tokio::select! {
        biased;
        () = write(&client, &payload) => {}
        () = others => {}
    }
    assert!(answered >= OTHERS_MIN, "{answered} calls were answered while it was packed");

    let (mut answered, mut got) = (0, None);
    let others = async {
        loop {
            client.get(other).await.expect("it is read");
            answered += 1;
        }
    };
    tokio::select! {
        biased;
        payload = read(&client) => got = payload,
        () = others => {}
    }
    assert!(got == Some(payload), "another payload came back");
    assert!(answered >= OTHERS_MIN, "{answered} calls were answered while it was unpacked");
}
