//! Windows as messages of a topic, for an OLAP store that consumes it: each line of a window is one
//! message, as JSON or Avro, under a key that keeps the same thing in the same partition.

use std::sync::Arc;

use rdkafka::message::{Header, OwnedHeaders};

use super::{Outlet, Sent, avro, end_ms};
use crate::config::{KafkaSettings, MetricForm};
use crate::ingress::Shared;
use crate::metric::Window;
use crate::sink::SinkError;
use crate::sink::kafka::{Message, Producer};

pub(super) struct Topic {
    producer: Producer,
    form: MetricForm,
    /// The run of the ingress: sums of several ingresses are added up by whoever reads them.
    instance: String,
}

impl Topic {
    pub(super) fn open(
        settings: &KafkaSettings,
        shared: &Arc<Shared>,
        number: usize,
    ) -> Result<Topic, SinkError> {
        let producer = Producer::open(settings, shared, number)?;
        let instance = format!("{:016x}", shared.instance);
        Ok(Topic { producer, form: settings.form, instance })
    }

    fn value(&self, window: &Window) -> Vec<u8> {
        match self.form {
            MetricForm::Json => {
                let mut line = window.json();
                line["instance"] = self.instance.as_str().into();
                line.to_string().into_bytes()
            }
            MetricForm::Avro => avro::encode(window, &self.instance),
        }
    }

    fn headers(&self, window: &Window) -> OwnedHeaders {
        let form = match self.form {
            MetricForm::Json => "application/json",
            MetricForm::Avro => "avro/binary",
        };
        let rows = [
            ("metric", window.rule.name.as_str()),
            ("instance", &self.instance),
            ("content-type", form),
        ];
        rows.iter().fold(OwnedHeaders::new(), |headers, (key, value)| {
            headers.insert(Header { key, value: Some(*value) })
        })
    }
}

impl Outlet for Topic {
    fn send(&mut self, windows: &[Window], is_over: &dyn Fn() -> bool) -> Sent {
        let key = |window: &Window| format!("{}/{}", window.rule.name, window.key.join("/"));
        let keys: Vec<String> = windows.iter().map(key).collect();
        let values: Vec<Vec<u8>> = windows.iter().map(|window| self.value(window)).collect();
        let mut messages = Vec::with_capacity(windows.len());
        for (window, (key, value)) in windows.iter().zip(keys.iter().zip(&values)) {
            let (timestamp_ms, headers) = (end_ms(window), self.headers(window));
            messages.push(Message { key, value, timestamp_ms, headers });
        }
        let (taken, error) = self.producer.send(&messages, is_over);
        let refused = usize::from(matches!(error, Some(SinkError::Refused { .. })));
        Sent { taken, refused, error }
    }
}
