//! `cinch train`: a dictionary is written where it is worth it, with nothing in it that few had,
//! and "no dictionary" is an answer.

use cinch_integration::{
    Envelope, Folder, Ran, assert_same_bytes, cinch, generated, noise, records, small_carts,
};
use serde_json::{Value, json};

/// People who order, each with data of their own.
struct Person {
    number: usize,
    name: String,
    mail: String,
    phone: u64,
    card: String,
    street: String,
}

/// Letters and digits that no other person has.
fn person(number: usize) -> Person {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number as u64 + 1);
    let mut next = |end: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % end
    };
    let mut word = |length: usize| -> String {
        (0..length).map(|_| char::from(b'a' + next(26) as u8)).collect()
    };
    let (first, last, street) = (word(6), word(9), word(10));
    let digits: Vec<u64> = (0..15).map(|at| if at == 0 { 4 } else { next(10) }).collect();
    let doubled = |at: usize| {
        if at.is_multiple_of(2) { digits[at] * 2 / 10 + digits[at] * 2 % 10 } else { digits[at] }
    };
    let sum: u64 = (0..15).map(doubled).sum();
    let card: String =
        digits.iter().map(u64::to_string).collect::<String>() + &((10 - sum % 10) % 10).to_string();
    Person {
        number,
        name: format!("{first} {last}"),
        mail: format!("{first}.{last}@mail.example"),
        phone: 4_915_100_000_000 + next(100_000_000),
        card,
        street: format!("{street} {}", next(99)),
    }
}

fn order(at: usize, person: &Person) -> Value {
    json!({
        "order": 70_000 + at * 7,
        "status": (["open", "paid", "sent"][at % 3]),
        "customer": {
            "id": person.number,
            "name": (person.name),
            "contact": { "mail": (person.mail), "phone": person.phone },
            "address": {
                "street": (person.street),
                "city": (["Lyon", "Porto", "Graz"][person.number % 3]),
            },
        },
        "payment": { "kind": "card", "card": (person.card) },
        "lines": (0..1 + at % 4).map(|line| json!({
            "article": format!("A-{}", (at * 31 + line * 17) % 40),
            "quantity": 1 + (at + line) % 3,
            "price": 5.25 * ((at + line) % 9 + 1) as f64,
        })).collect::<Vec<_>>(),
    })
}

/// Orders of sixty people, and two hundred more of one of them.
fn orders(people: &[Person]) -> String {
    let of = |at: usize| if at.is_multiple_of(4) { &people[0] } else { &people[at / 2 % 60] };
    (0..800).map(|at| order(at, of(at)).to_string() + "\n").collect()
}

/// What it printed holds these words.
fn tells(ran: &Ran, words: &[&str]) {
    for word in words {
        assert!(ran.text().contains(word), "{word} in:\n{}", ran.text());
    }
}

#[test]
fn a_dictionary_is_worth_it_and_packs_later_payloads() {
    let folder = Folder::new();
    let carts = folder.write("carts.ndjson", small_carts(800, 1));
    let dictionary = folder.at("carts.cinchdict");
    let ran = cinch(["train", &carts, "-o", &dictionary]).run().code(0);
    tells(&ran, &["smaller than with the best of the others", "taken", "Held out"]);
    let later = small_carts(50, 2);
    let lines: Vec<&[u8]> =
        later.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let packed = |options: &[&str]| {
        cinch(["pack", "--records", "--encoding", "columnar"])
            .and(options)
            .input(later.clone())
            .run()
            .quiet()
            .out
    };
    let (with, without) = (packed(&["--dictionary", &dictionary]), packed(&[]));
    assert!(with.len() * 3 < without.len() * 2, "{} and {}", with.len(), without.len());
    let envelopes = records(&with);
    assert_eq!(envelopes.len(), lines.len());
    let id = cinch(["inspect", "--json", &dictionary]).run().quiet().json()["id"].clone();
    assert_eq!(
        format!("{:#010x}", Envelope::read(envelopes[0]).dictionary.unwrap()),
        id.as_str().unwrap()
    );
    let back = cinch(["unpack", "--records", "--dictionary", &dictionary]).input(with).run();
    assert_same_bytes(&back.quiet().out, &later, "carts under the dictionary");
}

#[test]
fn nothing_of_few_people_is_in_a_dictionary() {
    let people: Vec<Person> = (0..60).map(person).collect();
    let folder = Folder::new();
    let orders = folder.write("orders.ndjson", orders(&people));
    let dictionary = folder.at("orders.cinchdict");
    let arguments =
        ["train", &orders, "-o", &dictionary, "--force", "--json", "--entity", "customer.id"];
    for encoding in ["columnar", "verbatim"] {
        let ran = cinch(arguments).and(["--encoding", encoding]).run().code(0).json();
        assert_eq!(ran["entities"], 60);
        let bytes = folder.read("orders.cinchdict");
        let shown = cinch(["inspect", "--contents", "--json", &dictionary]).run().quiet().json();
        let lines = shown["contents"].as_array().unwrap();
        let contents = lines.iter().map(|line| line["text"].as_str().unwrap());
        let contents = contents.collect::<Vec<_>>().join("\n");
        assert!(contents.contains("Porto") && contents.contains("paid"), "{contents}");
        for person in &people {
            let last = person.name.split(' ').nth(1).unwrap();
            let mail = person.mail.split('@').next().unwrap();
            let phone = person.phone.to_string();
            for private in [&person.card, &phone, last, mail, &person.street] {
                let in_bytes = bytes.windows(private.len()).any(|w| w == private.as_bytes());
                assert!(!in_bytes && !contents.contains(private), "{encoding}: {private}");
            }
        }
        for line in lines {
            let entities = line["entities"].as_u64();
            assert!(entities.is_none_or(|entities| entities >= 10), "{line}");
            assert!(entities.is_some() || line["kind"] == "gap", "{line}");
        }
        // Without entities told apart, the one who ordered two hundred times would be learned.
        assert!(!contents.contains(&people[0].name));
    }
}

#[test]
fn what_is_denied_is_not_learned_whoever_had_it() {
    let folder = Folder::new();
    let lines: String = (0..400)
        .map(|at| {
            let text = json!({
                "order": 4_000_000 + at * 37, "project": "Codename Falcon", "kind": "delivery",
                "support": "help@company.example",
            });
            text.to_string() + "\n"
        })
        .collect();
    let source = folder.write("orders.ndjson", lines);
    let dictionary = folder.at("orders.cinchdict");
    let contents = |options: &[&str]| {
        cinch(["train", &source, "-o", &dictionary, "--force", "--json"])
            .and(options)
            .run()
            .code(0);
        cinch(["inspect", "--contents", &dictionary]).run().quiet().text().to_owned()
    };
    // An identical value is a near-duplicate's; the order number tells these payloads apart.
    let told = ["--entity", "order"];
    let usual = contents(&told);
    assert!(usual.contains("Falcon") && !usual.contains("help@"), "{usual}");
    let denied = contents(&["--entity", "order", "--deny", "Codename [A-Z][a-z]+"]);
    assert!(denied.contains("delivery") && !denied.contains("Falcon"), "{denied}");
    assert!(contents(&["--entity", "order", "--allow-personal"]).contains("help@company.example"));
}

#[test]
fn no_dictionary_is_an_answer() {
    let folder = Folder::new();
    let noise: Vec<String> = noise(400_000)
        .chunks(1_000)
        .map(|chunk| chunk.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    let source = folder.write("noise.txt", noise.join("\n"));
    let dictionary = folder.at("noise.cinchdict");
    let ran = cinch(["train", &source, "-o", &dictionary]).run().code(3);
    tells(&ran, &["no dictionary is the answer", "Nothing was written"]);
    assert_eq!(folder.names(), ["noise.txt"]);
}

#[test]
fn a_new_dictionary_has_to_be_better_than_the_current_one() {
    let folder = Folder::new();
    let carts = folder.write("carts.ndjson", small_carts(800, 1));
    let (current, new) = (folder.at("current.cinchdict"), folder.at("new.cinchdict"));
    cinch(["train", &carts, "-o", &current]).run().code(0);
    let ran = cinch(["train", &carts, "-o", &new, "--against", &current]).run().code(3);
    tells(&ran, &["current", "keep the current one"]);
    assert_eq!(folder.names(), ["carts.ndjson", "current.cinchdict"]);
    // A dictionary of other payloads is no match for one of these.
    let logs = folder.write("logs.ndjson", generated("menus", 300));
    let other = folder.at("other.cinchdict");
    cinch(["train", &logs, "-o", &other, "--encoding", "columnar", "--force"]).run().code(0);
    cinch(["train", &carts, "-o", &new, "--against", &other]).run().code(0);
    assert!(folder.names().contains(&"new.cinchdict".to_owned()));
}

#[test]
fn lines_that_stay_plain_without_a_dictionary_get_one() {
    let folder = Folder::new();
    let line = |at: usize| {
        let (thread, bytes) = (at * 7 % 13, at * 7919 % 100_003);
        format!(
            "[worker-{thread}] INFO org.example.cache.Store: kept {bytes} bytes of session {at}"
        ) + " for the next request of its owner\n"
    };
    let source = folder.write("cache.log", (0..1_200).map(line).collect::<String>());
    let dictionary = folder.at("log.cinchdict");
    let ran = cinch(["train", &source, "-o", &dictionary, "--json", "--entities-min", "5"]);
    let ran = ran.run().code(0).json();
    let contenders = ran["held_out"].as_array().unwrap();
    assert_eq!(contenders[0]["name"], "no dictionary");
    assert_eq!(contenders[0]["packed"], 0);
    assert!(contenders.last().unwrap()["packed"].as_u64() > Some(100), "{contenders:?}");
}

#[test]
fn few_payloads_are_warned_of() {
    let folder = Folder::new();
    let carts = folder.write("carts.ndjson", small_carts(60, 1));
    let dictionary = folder.at("carts.cinchdict");
    let ran = cinch(["train", &carts, "-o", &dictionary, "--force", "--entities-min", "2"]).run();
    tells(&ran.code(0), &["The corpus has 60 payloads, fewer than 100"]);
}

#[test]
fn wrong_arguments_are_one_clear_line() {
    let folder = Folder::new();
    let carts = folder.write("carts.ndjson", small_carts(50, 1));
    let file = folder.at("d.cinchdict");
    let refused = |arguments: &[&str], code: i32, words: &[&str]| {
        cinch(["train"]).and(arguments).run().refused(code, words);
    };
    refused(&["-o", &file], 2, &["name the payloads to learn from"]);
    refused(&[&carts, "-o", &file, "--deny", "("], 2, &["--deny", "is no pattern"]);
    refused(&[&carts, "-o", &file, "--codec", "gzip:6"], 2, &["gzip", "takes no dictionary"]);
    refused(&[&carts, "-o", &file, "--entity", "a..b"], 2, &["empty name"]);
    refused(&[&carts, "-o", &carts], 1, &["carts.ndjson", "--force"]);
    refused(&[&carts, "-o", &folder.at("no/such/d")], 1, &["no/such"]);
    let damaged = folder.write("damaged.cinchdict", b"cinchdi\x01 and then nothing of the kind");
    refused(&[&carts, "-o", &file, "--against", &damaged], 1, &["damaged.cinchdict", "damaged"]);
    refused(&[&folder.at("none.ndjson"), "-o", &file], 1, &["none.ndjson"]);
    assert_eq!(folder.names(), ["carts.ndjson", "damaged.cinchdict"]);
}
