//! The routes. A cart is whatever JSON the caller stores; its version is a header, and a reader
//! says which version it needs at least.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use cinch_rollout::Stamp;
use cinch_rollout::live::Live;
use cinch_stores::control::Announcer;
use cinch_stores::tiered::{Origin, Stored, Tiered, TieredError};
use serde::Deserialize;

/// The longest cart that is taken, in bytes.
const CART_BYTES_MAX: usize = 16 << 20;

/// The header that carries a cart's version in both directions.
const VERSION: HeaderName = HeaderName::from_static("cart-version");

/// The header that says where an answer is from.
const ORIGIN: HeaderName = HeaderName::from_static("cart-origin");

/// What the routes share.
#[derive(Clone)]
pub struct Service {
    /// The carts.
    pub tiered: Tiered,
    /// What the process acts by, and what it counted.
    pub live: Arc<Live>,
    /// Its membership in the fleet, if it has one.
    pub announcer: Option<Arc<Announcer>>,
}

/// All routes.
pub fn router(service: Service) -> Router {
    Router::new()
        .route("/carts/{user}", get(cart).put(store))
        .route("/metrics", get(metrics))
        .route("/samples", get(samples))
        .route("/healthz", get(health))
        .layer(DefaultBodyLimit::max(CART_BYTES_MAX))
        .with_state(service)
}

/// What a reader asks for.
#[derive(Debug, Deserialize)]
struct Wanted {
    /// The version that it knows of; an older one is no answer.
    #[serde(default)]
    at_least: u64,
}

async fn cart(
    State(service): State<Service>,
    Path(user): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Response {
    let key = key_of(&user);
    // A service of substance would compute the cart from the summary it has; here there is none.
    let recompute = || async { Ok(None) };
    match service.tiered.get(&key, Stamp(wanted.at_least), recompute).await {
        Ok(None) => (StatusCode::NOT_FOUND, "no such cart\n").into_response(),
        Ok(Some(found)) => {
            let version = found.stamp.unwrap_or_default().0.to_string();
            let headers = [
                (header::CONTENT_TYPE, "application/json".to_owned()),
                (VERSION, version),
                (ORIGIN, origin(found.origin).to_owned()),
            ];
            (headers, found.payload.to_vec()).into_response()
        }
        Err(error) => failure(&error),
    }
}

async fn store(
    State(service): State<Service>,
    Path(user): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let version = headers.get(&VERSION).and_then(|value| value.to_str().ok());
    let Some(version) = version.and_then(|text| text.parse().ok()) else {
        let message = "a cart needs its version in the header cart-version, a number\n";
        return (StatusCode::BAD_REQUEST, message).into_response();
    };
    match service.tiered.put(&key_of(&user), &body, Stamp(version)).await {
        Ok(Stored::Written) => StatusCode::NO_CONTENT.into_response(),
        Ok(Stored::Superseded) => (StatusCode::CONFLICT, "a newer cart is there\n").into_response(),
        Err(error) => failure(&error),
    }
}

async fn metrics(State(service): State<Service>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, service.live.metrics().text()).into_response()
}

async fn samples(State(service): State<Service>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, service.live.export().to_json()).into_response()
}

async fn health(State(service): State<Service>) -> Response {
    match service.announcer.as_ref().map(|announcer| announcer.readiness()) {
        None | Some(cinch_stores::control::Readiness::Ready) => "ready\n".into_response(),
        Some(cinch_stores::control::Readiness::NotReady(reason)) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response()
        }
    }
}

fn key_of(user: &str) -> Vec<u8> {
    format!("cart:{user}").into_bytes()
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Cache => "cache",
        Origin::Persistent => "persistent",
        Origin::Recomputed => "recomputed",
    }
}

/// What the caller can do about it decides the status; the reason is for whoever reads the log.
fn failure(error: &TieredError) -> Response {
    let status = match error {
        TieredError::Busy(_) => StatusCode::TOO_MANY_REQUESTS,
        TieredError::TimedOut { .. } => StatusCode::GATEWAY_TIMEOUT,
        TieredError::TooOld { .. } => StatusCode::CONFLICT,
        _ => StatusCode::BAD_GATEWAY,
    };
    eprintln!("cart-service: {error}");
    (status, "the cart is not available; try again\n").into_response()
}
