//! FerretDB, which speaks MongoDB's protocol: the conformance suite, documents that others wrote by
//! hand, and fields of others that stay. Whatever is not a matter of the server is a unit test.
//!
//! FerretDB 1.24 does not compare and write in one step: with MongoDB's own driver for Python and
//! eight clients that count by `update_one` with the old value in the filter, 96 acknowledged
//! increments counted 16, and 12 in another run. So conditional writes that compete are not tested
//! on this protocol.

use bson::{Bson, Document, doc};
use cinch_integration::MongoDb;
use cinch_rollout::{Record, Stamp};
use cinch_stores::conformance::check;
use cinch_stores::{Condition, Expiry, PutOutcome, StoreError};
use mongodb::{Client, Collection};

use crate::{check_faults, failure, packed_form, put, subject};

async fn collection(server: &MongoDb, name: &str) -> Collection<Document> {
    let client = Client::with_uri_str(server.address("")).await.expect("an address");
    client.database("shop").collection(name)
}

#[tokio::test(flavor = "multi_thread")]
async fn ferretdb_conforms() {
    let server = MongoDb::shared();
    let subject = subject(&server.address("shop.carts?stamp=version&expires=expireAt")).await;
    let subject = subject.without_one_step();
    check(&subject).await;
    check_faults(&subject, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_published_names_alone_conform() {
    let server = MongoDb::shared();
    let users = collection(&server, "users").await;
    users
        .create_index(
            mongodb::IndexModel::builder()
                .keys(doc! { "user": 1 })
                .options(mongodb::options::IndexOptions::builder().unique(true).build())
                .build(),
        )
        .await
        .expect("an index can be made");
    let named = subject(&server.address("shop.users?key=user")).await.store;
    for key in ["9999999999", "1"] {
        put(named.as_ref(), key.as_bytes(), &packed_form(named.as_ref())).await;
        let found = named.get(key.as_bytes()).await.unwrap().unwrap();
        assert_eq!(found.record, packed_form(named.as_ref()));
    }
    assert_eq!(named.scan(None, 10).await.unwrap().keys, [b"1".to_vec(), b"9999999999".to_vec()]);
    let plain = subject(&server.address("shop.published")).await.without_one_step();
    check(&plain).await;
    collection(&server, "plain").await.insert_one(doc! { "user": "a" }).await.unwrap();
    let said = failure(&server.address("shop.plain?key=user"), "").await;
    assert!(said.contains("no unique index on user"), "{said}");
    assert!(failure(&server.address("shop.plain"), "").await.contains("key_form"));
    assert!(failure(&server.address("shop"), "").await.contains("DATABASE.COLLECTION"));
    assert!(failure(&server.address("shop.c?stmp=v"), "").await.contains("no parameter stmp"));
    assert!(failure(&server.address("shop.c?raw=a.b"), "").await.contains("no name of a field"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_of_others_keeps_what_is_theirs() {
    let server = MongoDb::shared();
    let carts = collection(&server, "owned").await;
    carts
        .insert_one(doc! {
            "_id": "9", "site": 0, "computeMethod": "CCS_V4.0.0", "cart": "{\"n\":1}",
            "compressedData": {
                "compressedCart": bson::Binary {
                    subtype: bson::spec::BinarySubtype::Generic, bytes: b"old".to_vec(),
                },
                "compressionMetadata": {
                    "codec": "LZ4_HIGH", "compressedSize": 3095, "uncompressedSize": 6485.0,
                    "lastUpdatedDate": bson::DateTime::from_millis(1_472_863_664_406),
                },
            },
        })
        .await
        .expect("a document can be inserted");
    let store = subject(&server.address("shop.owned")).await.store;
    let found = store.get(b"9").await.unwrap().unwrap();
    let packed = found.record.packed.clone().expect("a packed copy");
    assert_eq!((&packed.bytes[..], packed.metadata.codec.as_str()), (&b"old"[..], "LZ4_HIGH"));
    assert_eq!(packed.metadata.last_updated_ms, 1_472_863_664_406);
    // A rewrite of what was read, as a backfill does it.
    let condition = Condition::Is(found.version.clone());
    let written = store.put(b"9", &packed_form(store.as_ref()), &condition, Expiry::Keep).await;
    assert_eq!(written.unwrap(), PutOutcome::Written);
    let document = carts.find_one(doc! { "_id": "9" }).await.unwrap().unwrap();
    assert_eq!(document.get("cart"), Some(&Bson::Null), "the raw field is null and not missing");
    assert_eq!(document.get_str("computeMethod").ok(), Some("CCS_V4.0.0"));
    assert!(!document.contains_key("lastUpdatedDate"), "a rewrite is no update of the cart");
    // An application that writes no compression any more.
    put(store.as_ref(), b"9", &Record::single(b"{\"n\":2}".to_vec())).await;
    let document = carts.find_one(doc! { "_id": "9" }).await.unwrap().unwrap();
    assert!(!document.contains_key("compressedData"), "an old packed copy beside a new raw one");
    assert_eq!(document.get_str("cart").ok(), Some("{\"n\":2}"), "old clients read text");
    assert_eq!(document.get_i32("site").ok(), Some(0));
    assert!(matches!(document.get("lastUpdatedDate"), Some(Bson::DateTime(_))));
}

/// An old client writes the raw field alone; a rewrite of what was read before must see that.
#[tokio::test(flavor = "multi_thread")]
async fn a_rewrite_loses_to_a_client_that_knows_only_the_raw_field() {
    let server = MongoDb::shared();
    let carts = collection(&server, "old").await;
    let store = subject(&server.address("shop.old?stamp=version")).await.store;
    let both = Record {
        raw: Some(b"{}".to_vec().into()),
        stamp: Some(Stamp(1)),
        ..packed_form(store.as_ref())
    };
    for change in [
        doc! { "$set": { "cart": "{\"new\":1}" } },
        doc! { "$set": { "cart": null } },
        doc! { "$unset": { "cart": "" } },
        doc! { "$set": { "compressedData.compressionMetadata.codec": "GZIP" } },
    ] {
        put(store.as_ref(), b"k", &both).await;
        let found = store.get(b"k").await.unwrap().unwrap();
        carts.update_one(doc! { "_id": "k" }, change.clone()).await.expect("it can be changed");
        let condition = Condition::Is(found.version);
        let written = store.put(b"k", &both, &condition, Expiry::Keep).await.unwrap();
        assert_eq!(written, PutOutcome::ConditionFailed, "{change}");
    }
    carts.update_one(doc! { "_id": "k" }, doc! { "$set": { "version": "x" } }).await.unwrap();
    let got = store.get(b"k").await;
    assert!(matches!(got, Err(StoreError::Shape { .. })), "{got:?}");
}
