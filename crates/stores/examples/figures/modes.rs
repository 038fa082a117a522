//! The modes and methods that are compared, as the configuration would say them.
//!
//! Every client here is made of a configuration file's text, so that what is measured is what a
//! user would get.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use cinch_rollout::live::Live;
use cinch_rollout::settings::Sources;
use cinch_stores::{Client, Store};

/// A way to pack: its name, and the line of the configuration.
pub struct Method {
    /// The name in the table.
    pub name: String,
    line: String,
}

/// The published codec, and the profile if one was given.
pub fn methods(profile: Option<&Path>) -> Vec<Method> {
    let published = |name: &str| Method {
        name: name.to_owned(),
        line: format!("compression_codec = {name:?}\n"),
    };
    let of_profile = profile.map(|path| Method {
        name: "profile".to_owned(),
        line: format!("profile = {:?}\n", path.display().to_string()),
    });
    [published("LZ4_HIGH")].into_iter().chain(of_profile).collect()
}

/// The published codecs that the menus were measured with, and the profile if one was given.
pub fn menu_methods(profile: Option<&Path>) -> Vec<Method> {
    let codecs = ["SNAPPY", "LZ4_FAST"].map(|name| Method {
        name: name.to_owned(),
        line: format!("compression_codec = {name:?}\n"),
    });
    codecs.into_iter().chain(methods(profile).into_iter().filter(|m| m.name == "profile")).collect()
}

/// A client of a store that acts by one mode and method.
///
/// # Errors
/// What is wrong with the configuration, such as a profile that isn't there.
pub fn client(
    store: Arc<dyn Store>,
    method: Option<&Method>,
    modes: &str,
) -> Result<Client, Box<dyn Error>> {
    let line = method.map_or("", |method| &method.line);
    let text = format!("[namespaces.all]\nkeys = [\"*\"]\n{line}{modes}");
    let path = std::env::current_dir()?.join("figures.toml");
    let sources = Sources { path, text, ..Sources::default() };
    Ok(Client::new(store, Arc::new(Live::new(sources.configuration()?))))
}
