//! Sections of the file that are not the policy's. They are read by the same rules, so that there
//! is one file, one way to override it, and one way to be told what is wrong with it.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::file::{ConfigurationError, Sources, set};

/// The part of a file that is asked for; whatever else is in it is for others.
#[derive(Deserialize)]
struct Whole<T> {
    #[serde(default = "Proxies::none")]
    proxy: Proxies<T>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Proxies<T> {
    #[serde(default = "none")]
    redis: Option<T>,
}

impl<T> Proxies<T> {
    fn none() -> Proxies<T> {
        Proxies { redis: None }
    }
}

fn none<T>() -> Option<T> {
    None
}

impl Sources {
    /// `[proxy.redis]` as the sidecar has it, with what variables override; its default where there
    /// is none.
    ///
    /// # Errors
    /// [`ConfigurationError::Syntax`] with the line, or [`ConfigurationError::Variable`].
    pub fn redis_proxy<T: DeserializeOwned + Default>(&self) -> Result<T, ConfigurationError> {
        let syntax = |error: toml::de::Error| ConfigurationError::Syntax {
            path: self.path.clone(),
            message: error.to_string().trim_end().to_owned(),
        };
        let whole: Whole<T> = toml::from_str(&self.text).map_err(syntax)?;
        let mut found = whole.proxy.redis;
        let mut table: toml::Table = toml::from_str(&self.text).map_err(syntax)?;
        for (name, text) in self.overrides().filter(|(name, _)| name.starts_with("CINCH_PROXY__")) {
            set(&mut table, name, text)?;
            // Tried one by one, so that the error names the variable that does not fit.
            let whole: Whole<T> = table.clone().try_into().map_err(|error: toml::de::Error| {
                ConfigurationError::Variable {
                    name: name.to_owned(),
                    value: text.to_owned(),
                    message: error.message().to_owned(),
                }
            })?;
            found = whole.proxy.redis;
        }
        Ok(found.unwrap_or_default())
    }
}
