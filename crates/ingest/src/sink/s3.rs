//! A bucket: batches as objects by pool and hour, each of which is a file as the filer writes it,
//! index included. An object is put whole, so that there is never half of one, and a batch is
//! written when its object is there.
//!
//! An object is named after its first batch, so that one which is put again after a failure takes
//! the place of the first try.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStoreExt, PutPayload, RetryConfig};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::{SinkError, Target, Written, folder_name, group_of};
use crate::config::S3Settings;
use crate::format::Index;
use crate::ring::{Batch, Group, Taken};

/// How long one request may take.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// How long the client itself tries again before the ingress is told.
const RETRY_TIME: Duration = Duration::from_secs(3);

/// How often the client itself tries again.
const RETRIES: usize = 2;

/// How often it is looked whether to give requests up.
const TICK: Duration = Duration::from_millis(100);

/// The most objects that are put at the same time.
const PUTS_AT_ONCE: usize = 8;

const HOUR_MS: u64 = 3_600_000;

pub(super) struct Bucket {
    store: AmazonS3,
    place: String,
    prefix: String,
    group: Group,
    runtime: Runtime,
}

/// An object that is being put together.
#[derive(Default)]
struct Object {
    parts: Vec<Bytes>,
    bytes: u64,
    index: Index,
    /// Where its batches stand in the group.
    places: Vec<usize>,
}

impl Bucket {
    /// Sends nothing yet. Credentials come from where AWS' own tools take them.
    pub(super) fn open(settings: &S3Settings, ring_bytes: usize) -> Result<Bucket, SinkError> {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let place = format!("s3://{}/{}", settings.bucket, settings.prefix);
        let failed = |message: String| SinkError::Remote { place: place.clone(), message };
        let retry = RetryConfig {
            max_retries: RETRIES,
            retry_timeout: RETRY_TIME,
            ..RetryConfig::default()
        };
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(&settings.bucket)
            .with_client_options(ClientOptions::new().with_timeout(REQUEST_TIME))
            .with_retry(retry);
        if let Some(region) = &settings.region {
            builder = builder.with_region(region);
        }
        if let Some(endpoint) = &settings.endpoint {
            builder =
                builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
        }
        let store = builder.build().map_err(|error| failed(error.to_string()))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(error.to_string()))?;
        let linger = Duration::from_secs(settings.object_s);
        let group = group_of(settings.object_bytes, ring_bytes, linger);
        Ok(Bucket { store, place, prefix: settings.prefix.clone(), group, runtime })
    }

    /// The name of the object that starts with this batch.
    fn name(&self, batch: &Batch) -> Path {
        let since = Duration::from_millis(batch.head.first_ms);
        let time = humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + since).to_string();
        let (day, clock) = time.split_once('T').unwrap_or((&time, "00"));
        let hour = clock.get(..2).unwrap_or("00");
        let digits: String = clock.chars().filter(char::is_ascii_digit).collect();
        let (instance, sequence) = (batch.head.instance, batch.head.sequence);
        let file = format!("{digits}-{instance:016x}-{sequence:06}.zst");
        let folder = folder_name(&batch.pool.name);
        let prefix = self.prefix.trim_end_matches('/');
        // Names are made of letters, digits, `_`, `-`, `.` and `%`: nothing is to be escaped again.
        let name = format!("{prefix}/{folder}/{day}/{hour}/{file}");
        Path::parse(name.trim_start_matches('/')).unwrap_or_else(|_| Path::from(name))
    }

    /// The batches of a group by pool and hour, each object with its name.
    fn objects(&self, group: &[Taken]) -> Vec<(Path, Object)> {
        let mut objects: BTreeMap<(usize, u64), (Path, Object)> = BTreeMap::new();
        for (place, Taken { batch, bytes }) in group.iter().enumerate() {
            let key = (batch.pool.number, batch.head.first_ms / HOUR_MS);
            let (_, object) =
                objects.entry(key).or_insert_with(|| (self.name(batch), Object::default()));
            object.index.add(object.bytes, &batch.head);
            object.bytes += bytes.len() as u64;
            object.parts.push(bytes.clone());
            object.places.push(place);
        }
        objects.into_values().collect()
    }
}

impl Object {
    fn payload(self) -> PutPayload {
        let index = Bytes::from(self.index.write());
        self.parts.into_iter().chain([index]).collect()
    }
}

impl Target for Bucket {
    fn group(&self) -> Group {
        self.group
    }

    fn write(&mut self, batch: &Batch, bytes: &[u8]) -> Result<(), SinkError> {
        let taken = Taken { batch: batch.clone(), bytes: bytes.to_vec().into() };
        self.write_group(&[taken], &|| false).error.map_or(Ok(()), Err)
    }

    /// A batch is written when its object is; those in front of the first whose object is not
    /// count, the others are put again under the names that they had.
    fn write_group(&mut self, group: &[Taken], is_over: &dyn Fn() -> bool) -> Written {
        let mut is_written = vec![false; group.len()];
        let objects = self.objects(group);
        let (store, place) = (&self.store, &self.place);
        let error = self.runtime.block_on(async {
            let mut waiting = objects.into_iter();
            let mut puts = JoinSet::new();
            let mut error = None;
            loop {
                while puts.len() < PUTS_AT_ONCE
                    && error.is_none()
                    && let Some((name, object)) = waiting.next()
                {
                    let (store, places) = (store.clone(), object.places.clone());
                    let payload = object.payload();
                    puts.spawn(async move { (places, store.put(&name, payload).await) });
                }
                match tokio::time::timeout(TICK, puts.join_next()).await {
                    Ok(None) => return error,
                    Ok(Some(Ok((places, Ok(_))))) => {
                        places.into_iter().for_each(|place| is_written[place] = true);
                    }
                    Ok(Some(Ok((_, Err(failure))))) => error = Some(remote(place, &failure)),
                    Ok(Some(Err(failure))) => error = Some(remote(place, &failure)),
                    Err(_) if is_over() => {
                        return Some(SinkError::Stopped { place: place.clone() });
                    }
                    Err(_) => {}
                }
            }
        });
        let batches = is_written.iter().take_while(|is_written| **is_written).count();
        Written { batches, error }
    }
}

fn remote(place: &str, error: &dyn std::error::Error) -> SinkError {
    SinkError::Remote { place: place.to_owned(), message: error.to_string() }
}
