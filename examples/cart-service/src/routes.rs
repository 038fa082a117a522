//! The routes. A cart is whatever JSON the caller stores; its version is a header, and a reader
//! says which version it needs at least.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use cinch_rollout::Stamp;
use cinch_rollout::live::Live;
use cinch_stores::control::Announcer;
use cinch_stores::tiered::{Origin, Stored, Tiered, TieredCounts, TieredError};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The longest cart that is taken, in bytes. A document has to hold it twice while both copies are
/// written, and MongoDB's hold 16 MiB.
const CART_BYTES_MAX: usize = 7 << 20;

/// The longest name of a user, in bytes: keys of that length fit every store.
const USER_BYTES_MAX: usize = 200;

/// Versions are 63 bits long, because stores keep them as signed numbers.
const VERSION_MAX: u64 = i64::MAX as u64;

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
        .fallback(async || {
            let known = "there are /carts/USER, /metrics, /samples and /healthz\n";
            (StatusCode::NOT_FOUND, known)
        })
        .method_not_allowed_fallback(async || {
            (StatusCode::METHOD_NOT_ALLOWED, "carts take GET and PUT, all else GET\n")
        })
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
    user: Result<Path<String>, PathRejection>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Response {
    let key = match key_of(user) {
        Ok(key) => key,
        Err(refused) => return refused.into_response(),
    };
    let Ok(Query(wanted)) = wanted else {
        let message = "at_least is the version that is known, a whole number\n";
        return (StatusCode::BAD_REQUEST, message).into_response();
    };
    // A service of substance would compute the cart from the summary it has; here there is none.
    let recompute = || async { Ok(None) };
    match service.tiered.get(&key, Stamp(wanted.at_least), recompute).await {
        Ok(None) => {
            let message = match wanted.at_least {
                0 => "there is no such cart\n".to_owned(),
                version => format!("there is no such cart of version {version} or later\n"),
            };
            (StatusCode::NOT_FOUND, message).into_response()
        }
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
    user: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let key = match key_of(user) {
        Ok(key) => key,
        Err(refused) => return refused.into_response(),
    };
    let body = match body {
        Ok(body) => body,
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            let message = format!("a cart has at most {CART_BYTES_MAX} bytes\n");
            return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
        }
        Err(rejection) => {
            let message = format!("the cart did not arrive: {}\n", rejection.body_text());
            return (rejection.status(), message).into_response();
        }
    };
    let version = headers.get(&VERSION).and_then(|value| value.to_str().ok());
    let version = version.and_then(|text| text.parse().ok());
    let Some(version) = version.filter(|version| *version <= VERSION_MAX) else {
        let message = format!(
            "a cart needs its version in the header cart-version, a whole number up to \
             {VERSION_MAX}\n"
        );
        return (StatusCode::BAD_REQUEST, message).into_response();
    };
    if let Err(message) = check(&body) {
        return (StatusCode::UNPROCESSABLE_ENTITY, message).into_response();
    }
    match service.tiered.put(&key, body, Stamp(version)).await {
        Ok(Stored::Written) => StatusCode::NO_CONTENT.into_response(),
        Ok(Stored::Superseded) => {
            let message = "a cart of this version or a newer one is there\n";
            (StatusCode::CONFLICT, message).into_response()
        }
        Err(error) => failure(&error),
    }
}

/// A cart is JSON, and nothing more is known of it.
fn check(body: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(body).map_err(|error| format!("a cart is UTF-8: {error}\n"))?;
    let checked: Result<IgnoredAny, _> = serde_json::from_str(text);
    checked.map(|_| ()).map_err(|error| format!("a cart is JSON: {error}\n"))
}

async fn metrics(State(service): State<Service>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    let tiers = tiers_text(&service.tiered.counts());
    (kind, service.live.metrics().text() + &tiers).into_response()
}

/// What the tiers counted, in the text format of Prometheus.
fn tiers_text(counts: &TieredCounts) -> String {
    let rows = [
        ("cache hit", counts.cache_hits),
        ("cache miss", counts.cache_misses),
        ("cache stale", counts.cache_stale),
        ("cache unreadable", counts.cache_unreadable),
        ("cache failed", counts.cache_failures),
        ("persistent hit", counts.persistent_hits),
        ("persistent lagging", counts.persistent_lagging),
        ("persistent failed", counts.persistent_failures),
        ("recomputed", counts.recomputed),
    ];
    let mut text = "# HELP cart_service_tiers_total What the cache and the persistent copy did.\n\
                    # TYPE cart_service_tiers_total counter\n"
        .to_owned();
    for (what, count) in rows {
        text.push_str(&format!("cart_service_tiers_total{{what=\"{what}\"}} {count}\n"));
    }
    text
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

/// The key of a user's cart, or the answer to who names a user that no store could keep.
fn key_of(user: Result<Path<String>, PathRejection>) -> Result<Vec<u8>, (StatusCode, String)> {
    let Ok(Path(user)) = user else {
        return Err((StatusCode::BAD_REQUEST, "a user's name is UTF-8\n".to_owned()));
    };
    if user.len() > USER_BYTES_MAX || user.chars().any(char::is_control) {
        let message =
            format!("a user's name has at most {USER_BYTES_MAX} bytes and no control characters\n");
        return Err((StatusCode::BAD_REQUEST, message));
    }
    Ok(format!("cart:{user}").into_bytes())
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
