//! Why a command failed: one clear line for the terminal, with what to do next where that is known.
//!
//! Errors of the libraries keep their own words; this only adds the file or argument they are
//! about.

use std::io;
use std::path::Path;

use cinch_core::codec::{ChoiceError, SetupError};
use cinch_core::dictionary::DictionaryError;
use cinch_core::envelope::UnpackError;
use cinch_core::pack::PackError;
use cinch_core::profile::ProfileError;
use cinch_evaluate::against::AgainstError;
use cinch_evaluate::behind::UnknownBehind;
use cinch_evaluate::budget::BudgetError;
use cinch_evaluate::candidate::CandidateError;
use cinch_evaluate::capacity::CapacityError;
use cinch_evaluate::corpus::{CorpusError, FieldPathError};
use cinch_evaluate::link::LinkError;
use cinch_evaluate::training::TrainingError;
use cinch_ingest::IngressError;
use cinch_ingest::config::ConfigError;
use cinch_ingest::logs::LogsError;
use cinch_ingest::top::TopError;
use cinch_learn::deny::PatternError;
use cinch_rollout::settings::ConfigurationError;
use cinch_sample::SampleError;
use cinch_stores::StoreError;
use cinch_stores::control::controller::ControllerError;
use cinch_stores::control::limits::LimitError;
use cinch_stores::control::{ControlError, ProofError, StartError};
use cinch_stores::walk::WalkError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The reader of our output closed it.
    #[error("the output was closed")]
    Pipe,
    /// Reading or writing a file failed.
    #[error("{name}: {error}")]
    File {
        /// The file, or `standard input` and its like.
        name: String,
        /// What the system said.
        error: io::Error,
    },
    /// The user stopped it before there was anything to tell.
    #[error("interrupted")]
    Interrupted,
    /// An argument has a value that can't be used.
    #[error("{0}")]
    Argument(String),
    /// A profile file can't be used.
    #[error("{path}: {error}")]
    Profile {
        /// The file.
        path: String,
        /// Why.
        error: ProfileError,
    },
    /// A profile can't be used, wherever it is from.
    #[error(transparent)]
    AnyProfile(#[from] ProfileError),
    /// A dictionary file can't be used.
    #[error("{path}: {error}")]
    Dictionary {
        /// The file.
        path: String,
        /// Why.
        error: DictionaryError,
    },
    /// A schema file can't be used.
    #[error("{path}: {error}")]
    Schema {
        /// The file.
        path: String,
        /// Why.
        error: cinch_schema::ReadError,
    },
    /// A schema would break readers of the one before.
    #[error(transparent)]
    Change(#[from] cinch_schema::ChangeError),
    /// A payload could not be packed.
    #[error("{name}: {error}")]
    Pack {
        /// The input.
        name: String,
        /// Why.
        error: PackError,
    },
    /// Bytes could not be unpacked.
    #[error("{name}: {error}{}", hint(.error))]
    Unpack {
        /// The input.
        name: String,
        /// Why.
        error: UnpackError,
    },
    /// An envelope was packed against none of the versions that were given.
    #[error("{name}: {error} (--base {given})")]
    OtherBase {
        /// The input.
        name: String,
        /// Which base it names.
        error: UnpackError,
        /// The files that were given, each with the id of its content.
        given: String,
    },
    /// A source could not be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// A live store could not be sampled.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A context could not be made.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A codec was named wrongly.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A candidate was named wrongly.
    #[error(transparent)]
    Candidate(#[from] CandidateError),
    /// A budget was written wrongly.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A link was written wrongly.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A rate, disk, overhead, growth or price was written wrongly.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// A store that compresses was named wrongly.
    #[error(transparent)]
    Behind(#[from] UnknownBehind),
    /// An older run can't be compared with.
    #[error("{path}: {error}")]
    Against {
        /// The file.
        path: String,
        /// Why.
        error: AgainstError,
    },
    /// A dictionary could not be trained.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// A pattern of what is not learned was written wrongly.
    #[error("--deny: {0}")]
    Deny(#[from] PatternError),
    /// The configuration of an ingress can't be used.
    #[error(transparent)]
    Ingest(#[from] ConfigError),
    /// An ingress could not start, or ended.
    #[error(transparent)]
    Ingress(#[from] IngressError),
    /// A sidecar could not start.
    #[error(transparent)]
    Sidecar(#[from] cinch_proxy::SidecarError),
    /// Logs could not be read back.
    #[error(transparent)]
    Logs(LogsError),
    /// An ingress can't be looked at.
    #[error(transparent)]
    Top(#[from] TopError),
    /// A walk through a store ended before its end.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// What a verification was to clear stays.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// A path to a member was written wrongly.
    #[error(transparent)]
    Field(#[from] FieldPathError),
    /// The configuration of a service can't be used.
    #[error("{0}{hint}", hint = configuration_hint(.0))]
    Configuration(#[from] ConfigurationError),
    /// The control plane can't be read or written.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A rollout can't be moved.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// A bound of a rollout was written wrongly.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A process could not join its fleet.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A store could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What to do about an envelope that can't be unpacked.
fn hint(error: &UnpackError) -> &'static str {
    match error {
        UnpackError::MissingSchema => {
            " (name its file with --schema, or its profile with --profile)"
        }
        UnpackError::MissingDictionary { .. } => {
            " (name its file with --dictionary, or its profile with --profile)"
        }
        UnpackError::MissingBase { .. } => " (name the version it was packed against with --base)",
        UnpackError::UnsupportedVersion { .. }
        | UnpackError::UnknownCodec { .. }
        | UnpackError::UnknownEncoding { .. }
        | UnpackError::UnknownField { .. } => " (a newer cinch wrote it: upgrade to read it)",
        UnpackError::TooLarge { .. } => " (raise it with --limit)",
        _ => "",
    }
}

/// What to do about a configuration that can't be used.
fn configuration_hint(error: &ConfigurationError) -> &'static str {
    match error {
        ConfigurationError::Unreadable { .. } => {
            " (--config names the file with the namespaces; deploy/cinch.toml has every setting)"
        }
        _ => "",
    }
}

impl Failure {
    /// The exit status: 2 for what the arguments got wrong, as clap has it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Argument(_)
            | Failure::Choice(_)
            | Failure::Candidate(_)
            | Failure::Budget(_)
            | Failure::Link(_)
            | Failure::Capacity(_)
            | Failure::Behind(_)
            | Failure::Field(_)
            | Failure::Deny(_)
            | Failure::Limit(_)
            | Failure::Ingest(ConfigError::Line { .. } | ConfigError::Whole { .. })
            | Failure::Store(StoreError::Address(_))
            | Failure::Walk(WalkError::NoNamespace { .. })
            | Failure::Training(TrainingError::NoDictionary { .. })
            | Failure::Sample(SampleError::BadAddress { .. }) => 2,
            Failure::Interrupted | Failure::Training(TrainingError::Interrupted) => 130,
            _ => 1,
        }
    }

    /// A file that could not be read or written.
    pub fn file(name: impl AsRef<Path>, error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::Pipe;
        }
        Failure::File { name: name.as_ref().display().to_string(), error }
    }
}
