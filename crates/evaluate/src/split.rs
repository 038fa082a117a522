//! The three parts of a corpus: what a dictionary is trained on, what chooses among trials, and
//! what reports the figures of the chosen one.
//!
//! A figure from payloads that helped to choose or to train is flattered. Near-duplicates are never
//! on both sides of a border, because they would flatter it just the same, and where that can't be
//! had the user is told so in [`Split::notice`].

use std::cmp::Reverse;

use crate::corpus::Corpus;
use crate::groups::Groups;
use crate::report::human;
use crate::statistics::Chooser;

/// The shares of the payloads that train, select and report, in this order.
pub const SHARES: [f64; 3] = [0.6, 0.2, 0.2];

/// Fewer payloads are not split: a fifth of them would say nothing.
pub const PAYLOADS_MIN: usize = 20;

/// Fewer groups can't be dealt at random: which part gets which would decide the figures.
pub const GROUPS_MIN: usize = 20;

/// How far a part's share of the payloads may be from what it should be. Groups that are so large
/// that they take a part further are split by order, or are not kept together at all.
const SHARE_ERROR_MAX: f64 = 0.1;

/// Groups with more than this share of the payloads are dealt before all others, while every part
/// still has room for them.
const LARGE_SHARE: f64 = 0.02;

/// What the parts differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitBy {
    /// Each part has other groups of near-duplicates, chosen at random, of all sizes.
    Group,
    /// The earliest payloads train, later ones select and the latest report, as in production.
    Order,
}

impl SplitBy {
    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            SplitBy::Group => "group",
            SplitBy::Order => "order",
        }
    }
}

/// The parts of a corpus, as indices of its payloads in rising order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// What dictionaries are trained on.
    pub train: Vec<usize>,
    /// What sizes and levels are chosen on.
    pub select: Vec<usize>,
    /// What the figures are reported of.
    pub report: Vec<usize>,
    /// What was done, which may be less than what was wanted. `None`: there are too few payloads,
    /// and every part holds all of them.
    pub by: Option<SplitBy>,
    /// Why it is not what was wanted, or what the figures suffer from, in sentences for the user.
    pub notice: Option<String>,
}

/// Splits a corpus into 60 % that train, 20 % that select and 20 % that report. No group is in two
/// parts, except where [`Split::notice`] says so. The same corpus and seed give the same split; a
/// split by order needs no seed.
///
/// # Panics
/// Where the groups are of another corpus.
pub fn split(corpus: &Corpus, groups: &Groups, wanted: SplitBy, seed: u64) -> Split {
    let count = corpus.payloads.len();
    assert_eq!(groups.of.len(), count, "the groups of this corpus");
    if count < PAYLOADS_MIN {
        let all: Vec<usize> = (0..count).collect();
        let notice = format!(
            "The corpus has {}, too few to split (at least {PAYLOADS_MIN}): figures are of the \
             same payloads that chose the winner, and are better than new payloads will give.",
            human::counted(count as u64, "payload")
        );
        let (train, select, report) = (all.clone(), all.clone(), all);
        return Split { train, select, report, by: None, notice: Some(notice) };
    }
    let mut notices = Vec::new();
    let members = Members::of(corpus, groups);
    let mut parts = None;
    let mut by = wanted;
    if wanted == SplitBy::Group {
        parts = members.dealt(seed).filter(|parts| are_near_shares(parts));
        if parts.is_none() {
            by = SplitBy::Order;
            notices.push(format!(
                "The corpus has {} groups of near-duplicates, the largest with {} of {count} \
                 payloads, which can't be split at random: it was split by order instead.",
                groups.count, groups.largest
            ));
        }
    }
    let parts = parts.or_else(|| Some(members.in_order()).filter(|parts| are_near_shares(parts)));
    let parts = parts.unwrap_or_else(|| {
        notices.push(
            "Near-duplicates are on both sides of the split, so that dictionaries look better \
             than they will on new payloads."
                .to_owned(),
        );
        cut(count)
    });
    let mut indices = [const { Vec::new() }; 3];
    for (payload, part) in parts.into_iter().enumerate() {
        indices[part].push(payload);
    }
    let [train, select, report] = indices;
    let notice = (!notices.is_empty()).then(|| notices.join(" "));
    Split { train, select, report, by: Some(by), notice }
}

/// The sizes of the groups of a corpus.
struct Members<'a> {
    groups: &'a Groups,
    payloads: Vec<usize>,
    bytes: Vec<usize>,
}

impl Members<'_> {
    fn of<'a>(corpus: &Corpus, groups: &'a Groups) -> Members<'a> {
        let mut members =
            Members { groups, payloads: vec![0; groups.count], bytes: vec![0; groups.count] };
        for (payload, &group) in corpus.payloads.iter().zip(&groups.of) {
            members.payloads[group as usize] += 1;
            members.bytes[group as usize] += payload.bytes.len();
        }
        members
    }

    /// The part of each payload, given the part of each group.
    fn parts(&self, of_group: &[usize]) -> Vec<usize> {
        self.groups.of.iter().map(|&group| of_group[group as usize]).collect()
    }

    /// Deals the groups in random order, size class by size class, each to the part that lacks most
    /// of its share of what was dealt. `None` where there are too few groups.
    fn dealt(&self, seed: u64) -> Option<Vec<usize>> {
        let count = self.groups.of.len();
        if self.groups.count < GROUPS_MIN || self.groups.largest > count / 2 {
            return None;
        }
        let mut order: Vec<usize> = (0..self.groups.count).collect();
        Chooser::new(seed, "split").shuffle(&mut order);
        // Within a size class, payloads differ in length by less than a factor of two.
        let size_class =
            |group: usize| (self.bytes[group] / self.payloads[group].max(1)).max(1).ilog2();
        let is_large = |group: usize| self.payloads[group] as f64 > LARGE_SHARE * count as f64;
        order.sort_by_key(|&group| {
            if is_large(group) {
                (0, Reverse(self.payloads[group]), 0)
            } else {
                (1, Reverse(0), size_class(group))
            }
        });
        let mut of_group = vec![0; self.groups.count];
        let mut had = [0usize; 3];
        let mut dealt = 0;
        for group in order {
            let payloads = self.payloads[group];
            dealt += payloads;
            // A large group goes where most room is left; a small one keeps the shares at every
            // moment, so that each size class is dealt in these shares.
            let total = if is_large(group) { count } else { dealt };
            let lacks = |part: usize| SHARES[part] * total as f64 - had[part] as f64;
            let part = (0..3).max_by(|&a, &b| lacks(a).total_cmp(&lacks(b))).unwrap_or(0);
            had[part] += payloads;
            of_group[group] = part;
        }
        Some(self.parts(&of_group))
    }

    /// Cuts the groups in the order of their first members, so that a group is as early as its
    /// earliest payload and goes to the part of that one as a whole.
    fn in_order(&self) -> Vec<usize> {
        let count = self.groups.of.len();
        let mut before = 0;
        let of_group: Vec<usize> = self
            .payloads
            .iter()
            .map(|payloads| {
                let part = part_at(before, count);
                before += payloads;
                part
            })
            .collect();
        self.parts(&of_group)
    }
}

/// The part of the payload before which there are this many others.
fn part_at(before: usize, count: usize) -> usize {
    let share = before as f64 / count as f64;
    usize::from(share >= SHARES[0]) + usize::from(share >= SHARES[0] + SHARES[1])
}

/// The part of each payload, by nothing but its place.
fn cut(count: usize) -> Vec<usize> {
    (0..count).map(|payload| part_at(payload, count)).collect()
}

fn are_near_shares(parts: &[usize]) -> bool {
    (0..3).all(|part| {
        let payloads = parts.iter().filter(|&&of_payload| of_payload == part).count();
        (payloads as f64 / parts.len() as f64 - SHARES[part]).abs() <= SHARE_ERROR_MAX
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A corpus of payloads with these groups and lengths, the groups numbered as they come.
    fn corpus(groups_and_lengths: &[(u32, usize)]) -> (Corpus, Groups) {
        let corpus = Corpus::from_payloads(
            "synthetic",
            groups_and_lengths.iter().map(|&(_, length)| vec![b'x'; length]),
        );
        let mut seen: Vec<u32> = Vec::new();
        let mut sizes = Vec::new();
        let of = groups_and_lengths
            .iter()
            .map(|(group, _)| {
                let number = seen.iter().position(|known| known == group).unwrap_or_else(|| {
                    seen.push(*group);
                    sizes.push(0);
                    seen.len() - 1
                });
                sizes[number] += 1;
                number as u32
            })
            .collect();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        (corpus, Groups { of, count: sizes.len(), largest })
    }

    fn straddles(groups: &Groups, split: &Split) -> bool {
        let mut part_of = vec![None; groups.count];
        let parts = [&split.train, &split.select, &split.report];
        parts.iter().enumerate().any(|(part, payloads)| {
            payloads
                .iter()
                .any(|&payload| *part_of[groups.of[payload] as usize].get_or_insert(part) != part)
        })
    }

    proptest! {
        #[test]
        fn parts_are_disjoint_complete_and_keep_groups_together(
            rows in prop::collection::vec((0..120u32, 1..300usize), PAYLOADS_MIN..400),
            by_group: bool,
            seed: u64,
        ) {
            let (corpus, groups) = corpus(&rows);
            let wanted = if by_group { SplitBy::Group } else { SplitBy::Order };
            let split = split(&corpus, &groups, wanted, seed);
            let parts = [&split.train, &split.select, &split.report];
            prop_assert!(parts.iter().all(|part| part.is_sorted()));
            let mut all: Vec<usize> = parts.into_iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..rows.len()).collect::<Vec<_>>());
            for (part, share) in parts.into_iter().zip(SHARES) {
                let has = part.len() as f64 / rows.len() as f64;
                prop_assert!((has - share).abs() <= SHARE_ERROR_MAX, "{has} {share}");
            }
            let is_told = split.notice.as_ref().is_some_and(|text| text.contains("both sides"));
            prop_assert_eq!(straddles(&groups, &split), is_told);
            prop_assert_eq!(split.by == Some(wanted), !by_group || split.notice.is_none());
        }
    }

    /// 2,000 payloads in pairs of near-duplicates: most short, a few long.
    fn pairs() -> Vec<(u32, usize)> {
        (0..2_000).map(|payload| (payload / 2, if payload % 25 < 2 { 4_000 } else { 90 })).collect()
    }

    #[test]
    fn a_split_by_group_gives_every_part_its_share_of_long_payloads() {
        let (corpus, groups) = corpus(&pairs());
        let chosen = split(&corpus, &groups, SplitBy::Group, 1);
        assert_eq!((chosen.by, &chosen.notice), (Some(SplitBy::Group), &None));
        let total = corpus.total_bytes() as f64;
        for (part, share) in [&chosen.train, &chosen.select, &chosen.report].into_iter().zip(SHARES)
        {
            let bytes: usize = part.iter().map(|&index| corpus.payloads[index].bytes.len()).sum();
            assert!((bytes as f64 / total - share).abs() < 0.02, "{bytes} of {total}");
            assert!((part.len() as f64 / 2_000.0 - share).abs() < 0.01);
        }
        assert_eq!(chosen, split(&corpus, &groups, SplitBy::Group, 1));
        assert_ne!(chosen.report, split(&corpus, &groups, SplitBy::Group, 2).report);
    }

    #[test]
    fn a_split_by_order_is_in_order_and_moves_late_copies_to_the_earlier_part() {
        // The last payload is a copy of the first.
        let mut rows: Vec<(u32, usize)> = (0..100).map(|payload| (payload, 50)).collect();
        rows[99].0 = 0;
        let (corpus, groups) = corpus(&rows);
        let split = split(&corpus, &groups, SplitBy::Order, 1);
        assert_eq!((split.by, &split.notice), (Some(SplitBy::Order), &None));
        let mut train: Vec<usize> = (0..59).collect();
        train.push(99);
        assert_eq!(split.train, train);
        assert_eq!(split.select, (59..79).collect::<Vec<_>>());
        assert_eq!(split.report, (79..99).collect::<Vec<_>>());
    }

    #[test]
    fn few_groups_and_giant_ones_are_split_by_order_and_the_user_is_told() {
        let few: Vec<(u32, usize)> = (0..1_000).map(|payload| (payload / 100, 50)).collect();
        let (few, groups) = corpus(&few);
        let by_order = split(&few, &groups, SplitBy::Group, 1);
        assert_eq!(by_order.by, Some(SplitBy::Order));
        assert_eq!(by_order.train, (0..600).collect::<Vec<_>>());
        assert!(by_order.notice.unwrap().contains("10 groups of near-duplicates"));
        // One group above half of the payloads, all over the corpus.
        let giant: Vec<(u32, usize)> =
            (0..1_000).map(|payload| (if payload % 10 < 9 { 0 } else { payload }, 50)).collect();
        let (giant, groups) = corpus(&giant);
        let by_place = split(&giant, &groups, SplitBy::Group, 1);
        assert_eq!(by_place.by, Some(SplitBy::Order));
        assert_eq!(by_place.report, (800..1_000).collect::<Vec<_>>());
        assert!(by_place.notice.unwrap().contains("both sides of the split"));
    }

    #[test]
    fn too_few_payloads_are_not_split_and_the_user_is_told() {
        let rows: Vec<(u32, usize)> = (0..19).map(|payload| (payload, 50)).collect();
        let (corpus, groups) = corpus(&rows);
        let split = split(&corpus, &groups, SplitBy::Group, 1);
        assert_eq!(split.by, None);
        assert_eq!(split.train, (0..19).collect::<Vec<_>>());
        assert_eq!((&split.train, &split.train), (&split.select, &split.report));
        assert!(split.notice.unwrap().contains("19 payloads, too few to split"));
    }
}
