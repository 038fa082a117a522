//! What is written: the payloads of a file, or those of an article's sizes where none is named; and
//! the profile that packs them.
//!
//! A profile is recommended for one part of the payloads and the other part is replayed, since a
//! dictionary always does well on what it was made of. Payloads are parted in their order, as a
//! service would do it: what was written until yesterday trains, what is written today is packed.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use cinch_integration::{Folder, cinch};
use serde_json::Value;

/// What is written, and how it is packed.
#[derive(Debug, Clone, clap::Args)]
pub struct Traffic {
    /// Payloads, one a line; without it payloads of the article's sizes are generated
    corpus: Option<PathBuf>,
    /// A profile of your own, instead of the one that `cinch evaluate` recommends for the payloads
    /// that train
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// How many payloads train: the first ones [default: half of the file, or 600]
    #[arg(long, value_name = "N")]
    train: Option<usize>,
    /// How many payloads after them are replayed at most [default: all; 1,200 carts or 10,000
    /// menus where they are generated]
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// The goal of `cinch evaluate`
    #[arg(long, value_name = "GOAL", default_value = "cache")]
    goal: String,
    /// How long `cinch evaluate` may take about
    #[arg(long, value_name = "TIME", default_value = "60s")]
    time: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Payloads of an article's sizes.
pub struct Generated {
    /// What `cinch generate --published` calls them.
    name: &'static str,
    /// How many of the first are the article's table, which is no sample of what was stored.
    in_table: usize,
    /// How many are replayed unless somebody says otherwise.
    count: usize,
}

/// Carts of 32 kB on average.
pub const CARTS: Generated = Generated { name: "ebay", in_table: 10, count: 1_200 };

/// Menus from 9.5 kB to 709 kB.
pub const MENUS: Generated = Generated { name: "doordash", in_table: 2, count: 10_000 };

/// How many generated payloads train unless somebody says otherwise.
const TRAIN_DEFAULT: usize = 600;

/// Payloads in a file, ready to be replayed.
pub struct Replay {
    /// What they are.
    name: String,
    /// The file, one payload a line.
    pub path: PathBuf,
    /// How many there are.
    pub count: usize,
    /// Their length in bytes, all together.
    pub bytes: u64,
    /// How many others trained.
    train: usize,
    /// The profile that packs them.
    pub profile: PathBuf,
    /// Its encoding, codec and dictionary, or where it is from.
    pub profile_name: String,
}

impl Traffic {
    /// The same traffic, of which so many payloads are replayed unless somebody says otherwise.
    pub fn with_count(self, count: usize) -> Traffic {
        Traffic { count: self.count.or(Some(count)), ..self }
    }

    /// The payloads as files of a folder, and their profile.
    ///
    /// # Errors
    /// What is wrong with the file, or that nothing is left to replay, in one line.
    pub fn prepared(
        &self,
        otherwise: &Generated,
        folder: &Folder,
    ) -> Result<Replay, Box<dyn Error>> {
        // It would be missed at the first row that needs it, minutes later.
        if let Some(profile) = &self.profile {
            File::open(profile).map_err(|error| format!("{}: {error}", profile.display()))?;
        }
        let (train, replayed) = (folder.at("train.ndjson"), folder.at("replay.ndjson"));
        let mut parts = Parts::to(Path::new(&train), Path::new(&replayed))?;
        let name = match &self.corpus {
            Some(corpus) => {
                let all = lines(corpus)?.try_fold(0, |count, line| line.map(|_| count + 1))?;
                parts.train =
                    self.train.unwrap_or(if self.profile.is_some() { 0 } else { all / 2 });
                parts.count = self.count.unwrap_or(usize::MAX);
                parts.fill(lines(corpus)?)?;
                corpus.display().to_string()
            }
            None => {
                parts.count = self.count.unwrap_or(otherwise.count);
                let train = if self.profile.is_some() { 0 } else { TRAIN_DEFAULT };
                parts.train = self.train.unwrap_or(train);
                let generated = folder.at("generated.ndjson");
                let count = otherwise.in_table + parts.train + parts.count;
                eprintln!("figures: generating {count} payloads");
                let arguments = ["generate", "--published", otherwise.name, "-o", &generated];
                let ran = cinch(arguments).and(["--count", &count.to_string()]).run();
                if ran.code != Some(0) {
                    return Err(ran.err.trim_end().to_owned().into());
                }
                parts.fill(lines(Path::new(&generated))?.skip(otherwise.in_table))?;
                std::fs::remove_file(&generated)?;
                format!("generated: cinch generate --published {}", otherwise.name)
            }
        };
        let (trained, replay) = parts.end()?;
        if replay.count == 0 {
            let message =
                format!("{name}: no payload is left to replay after {trained} that train");
            return Err(message.into());
        }
        let (profile, profile_name) = match &self.profile {
            Some(profile) => (std::path::absolute(profile)?, profile.display().to_string()),
            None => self.recommended(&train, folder)?,
        };
        let path = PathBuf::from(replayed);
        let (count, bytes) = (replay.count, replay.bytes);
        Ok(Replay { name, path, count, bytes, train: trained, profile, profile_name })
    }

    /// The profile that `cinch evaluate` recommends for the payloads that train. Only encodings
    /// that give back every byte are tried, since a store promises that.
    fn recommended(
        &self,
        train: &str,
        folder: &Folder,
    ) -> Result<(PathBuf, String), Box<dyn Error>> {
        eprintln!("figures: cinch evaluate looks for a profile");
        let path = folder.at("profile/profile.toml");
        std::fs::create_dir_all(folder.at("profile"))?;
        let arguments = ["evaluate", train, "--format", "lines", "--progress", "never"];
        let ran = cinch(arguments)
            .and(["--encodings", "verbatim,columnar", "--no-schema", "--json", "-"])
            .and(["--goal", &self.goal, "--time", &self.time, "--profile", &path])
            .run();
        if !Path::new(&path).exists() {
            return Err(ran.err.trim_end().to_owned().into());
        }
        let evaluation: Value = serde_json::from_slice(&ran.out)?;
        let name = evaluation["recommended"]["name"].as_str().unwrap_or("a profile");
        Ok((PathBuf::from(path), name.to_owned()))
    }
}

impl Replay {
    /// What a reader of the tables has to know of the payloads.
    pub fn facts(&self, keys: Option<u64>) -> Vec<(&'static str, Value)> {
        let mut facts = vec![
            ("payloads", Value::from(self.name.clone())),
            ("replayed", self.count.into()),
            ("mean_bytes", (self.bytes / self.count as u64).into()),
            ("profile", self.profile_name.clone().into()),
            ("trained_on_others", self.train.into()),
        ];
        facts.extend(keys.map(|keys| ("keys", keys.into())));
        facts
    }
}

/// The lines of a file that are not empty, without their ends.
///
/// # Errors
/// The path with what the system says.
pub fn lines(
    path: &Path,
) -> Result<impl Iterator<Item = std::io::Result<Vec<u8>>>, Box<dyn Error>> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = BufReader::with_capacity(1 << 20, file).split(b'\n');
    Ok(lines.filter(|line| !line.as_ref().is_ok_and(Vec::is_empty)))
}

/// The two parts while they are written.
struct Parts {
    train: usize,
    count: usize,
    trained: Part,
    replayed: Part,
}

struct Part {
    file: BufWriter<File>,
    count: usize,
    bytes: u64,
}

impl Parts {
    fn to(train: &Path, replayed: &Path) -> Result<Parts, std::io::Error> {
        let part =
            |path| Ok(Part { file: BufWriter::new(File::create(path)?), count: 0, bytes: 0 });
        let (trained, replayed): (_, std::io::Result<Part>) = (part(train)?, part(replayed));
        Ok(Parts { train: 0, count: 0, trained, replayed: replayed? })
    }

    fn fill(
        &mut self,
        lines: impl Iterator<Item = std::io::Result<Vec<u8>>>,
    ) -> Result<(), std::io::Error> {
        for line in lines.take(self.train.saturating_add(self.count)) {
            let part = match self.trained.count < self.train {
                true => &mut self.trained,
                false => &mut self.replayed,
            };
            part.add(&line?)?;
        }
        Ok(())
    }

    /// Ends the files: how many train, and the part that is replayed.
    fn end(mut self) -> Result<(usize, Part), std::io::Error> {
        self.trained.file.flush()?;
        self.replayed.file.flush()?;
        Ok((self.trained.count, self.replayed))
    }
}

impl Part {
    fn add(&mut self, line: &[u8]) -> Result<(), std::io::Error> {
        self.count += 1;
        self.bytes += line.len() as u64;
        self.file.write_all(line)?;
        self.file.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(text: &str, train: usize, count: usize) -> (String, String, u64) {
        let folder = Folder::new();
        let source = folder.write("source", text);
        let (train_path, replay_path) = (folder.at("train"), folder.at("replay"));
        let mut parts = Parts::to(Path::new(&train_path), Path::new(&replay_path)).unwrap();
        (parts.train, parts.count) = (train, count);
        parts.fill(lines(Path::new(&source)).unwrap()).unwrap();
        let bytes = parts.end().unwrap().1.bytes;
        (folder.read_text("train"), folder.read_text("replay"), bytes)
    }

    #[test]
    fn what_trains_is_never_replayed() {
        let (train, replay, bytes) = parted("one\n\ntwo\nthree\nfour\nfive", 2, 2);
        assert_eq!((train.as_str(), replay.as_str()), ("one\ntwo\n", "three\nfour\n"));
        assert_eq!(bytes, 9);
        assert_eq!(parted("one\ntwo\n", 5, 5).1, "");
    }
}
