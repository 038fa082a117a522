//! Measures which encoding and codec fit a corpus of payloads, and recommends one.
//!
//! The way through it: [`corpus`] reads payloads from files and pipes, [`candidate`] lists what to
//! try, [`measure`] sizes and times it in three stages, [`select`] chooses by named rules, and
//! [`evaluation`] puts it together into the [`model`] that every [`report`] renders. [`estimate`]
//! answers what one profile would save.

pub mod against;
pub mod behind;
pub mod bootstrap;
pub mod budget;
pub mod candidate;
pub mod capacity;
pub mod corpus;
pub mod decision;
pub mod dictionaries;
pub mod estimate;
pub mod evaluation;
pub mod goal;
pub mod groups;
pub mod host;
pub mod link;
pub mod measure;
pub mod memory;
pub mod model;
pub mod report;
pub mod schemas;
pub mod select;
pub mod sheet;
pub mod split;
pub mod statistics;
pub mod training;
