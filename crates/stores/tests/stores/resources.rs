//! The failure modes of memory and of time (10 and 18 in spec/stores.md), against a real server: a
//! process that serves many callers keeps little for them, and large payloads keep nobody waiting.

use std::process::Stdio;
use std::sync::{Arc, Barrier};
use std::thread;

use cinch_integration::{Folder, Redis};
use cinch_rollout::live::Live;
use cinch_rollout::settings::{DICTIONARIES_BYTES_MAX, Sources};
use cinch_stores::{Client, Condition, Expiry};
use tokio::runtime::Runtime;

use crate::failure_modes::{cart, client, read, redis, write};
use crate::own_process;

/// How many call at the same moment, and how many sets of contexts are kept for them.
const CALLERS: usize = 160;
const KEPT: usize = 64;

/// What each of them writes, in bytes: so long that packing it takes many turns on a processor, so
/// that all callers are at it at once.
const WRITTEN_BYTES: usize = 1_000_000;

/// Mode 10: contexts are kept for later calls, and how many is bounded: after a burst of callers a
/// process has its memory back.
#[test]
fn mode_10_a_burst_of_callers_leaves_few_contexts_behind() {
    let server = Redis::start();
    let test = "resources::memory_after_a_burst";
    let mut command = own_process::command(test, &server.address());
    // The allocator gives back what is long at once, so that what remains is what is kept.
    command.env("MALLOC_MMAP_THRESHOLD_", "65536").env("MALLOC_TRIM_THRESHOLD_", "65536");
    command.env("MALLOC_ARENA_MAX", "2");
    let output = command.stdin(Stdio::null()).output().expect("it can be started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let number = |what: &str| {
        let line = said.lines().find_map(|line| line.split_once(what));
        let number = line.and_then(|(_, number)| number.trim().parse::<usize>().ok());
        number.unwrap_or_else(|| panic!("it says no number: {said}"))
    };
    let (kept, each) = (number("kept bytes: "), number("bytes of each: "));
    assert!(each > 0, "a set of contexts has no bytes: {said}");
    // Half more than that, for what else a process keeps; all callers' would be two and a half.
    let limit = each * KEPT * 3 / 2;
    assert!(kept < limit, "{kept} bytes are kept after {CALLERS} callers of {each} bytes each");
}

/// The process of that test: its memory before and after the burst.
#[test]
#[ignore = "a process of mode_10_a_burst_of_callers_leaves_few_contexts_behind"]
fn memory_after_a_burst() {
    /// How many sets are made to find out how long one is.
    const ONE_EACH: usize = 8;
    let Some(address) = own_process::task() else { return };
    let runtime = Runtime::new().expect("a runtime can be made");
    let store = runtime.block_on(crate::subject(&address)).store;
    let settings = "write = \"packed\"\ncompression_codec = \"GZIP\"\n";
    let call = |client: &Client, number: usize| {
        // Digits: they pack to half, so that buffers are really written to.
        let mut random = fastrand::Rng::with_seed(number as u64);
        let payload: Vec<u8> = (0..WRITTEN_BYTES).map(|_| random.u8(b'0'..=b'9')).collect();
        let key = format!("cart:{number}").into_bytes();
        let put = client.put(&key, payload.clone(), None, &Condition::Always, Expiry::Keep);
        runtime.block_on(put).expect("it is written");
    };
    let burst = client(&store, settings);
    call(&burst, 0);
    // Clients that have nothing in common keep a set each.
    let before = memory_bytes();
    let others: Vec<Client> = (0..ONE_EACH).map(|_| client(&store, settings)).collect();
    others.iter().enumerate().for_each(|(number, client)| call(client, number));
    println!("bytes of each: {}", memory_bytes().saturating_sub(before) / ONE_EACH);
    let before = memory_bytes();
    let all_there = Barrier::new(CALLERS);
    thread::scope(|scope| {
        for number in 0..CALLERS {
            let (call, burst, all_there) = (&call, &burst, &all_there);
            scope.spawn(move || {
                all_there.wait();
                call(burst, number);
            });
        }
    });
    println!("kept bytes: {}", memory_bytes().saturating_sub(before));
}

/// The memory of this process that is in use.
fn memory_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<usize>().ok());
    kib.expect("Linux says it in kB") << 10
}

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
