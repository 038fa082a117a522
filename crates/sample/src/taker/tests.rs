//! The sample is fair, bounded, and says what it left out.
//! Whatever the store sends, these hold.

use super::*;

fn options(count: usize) -> SampleOptions {
    SampleOptions { count, rate_per_second: None, ..SampleOptions::default() }
}

/// Offers values of these lengths, each with its number in its key.
fn taken(options: &SampleOptions, bytes_max: u64, lengths: &[usize]) -> Sampled {
    let stop = AtomicBool::new(false);
    let mut progress = |_, _| {};
    let mut taker = Taker::new(options, &stop, &mut progress);
    taker.bytes_max = bytes_max;
    for (number, &length) in lengths.iter().enumerate() {
        if taker.offer(&number.to_string(), &vec![b'x'; length]).is_break() {
            break;
        }
    }
    taker.finish()
}

fn keys(sampled: &Sampled) -> Vec<usize> {
    sampled.payloads.iter().map(|taken| taken.key.parse().unwrap()).collect()
}

#[test]
fn everything_is_kept_where_it_fits() {
    let sampled = taken(&options(10), SAMPLE_BYTES_MAX, &[5, 2_000, 9_000, 20_000, 200_000]);
    assert_eq!(keys(&sampled), [0, 1, 2, 3, 4]);
    assert_eq!(sampled.payloads[1].bytes, vec![b'x'; 2_000]);
    assert_eq!((sampled.seen, sampled.seen_bytes), (5, 231_005));
    assert!(sampled.classes.iter().all(|class| (class.seen, class.kept) == (1, 1)));
    assert!(!sampled.is_cut_short && !sampled.has_reached_limit);
}

#[test]
fn classes_are_kept_as_they_were_seen_and_a_rare_one_is_not_lost() {
    let mut lengths = vec![100; 9_000];
    lengths.extend([2_000; 990]);
    lengths.extend([50_000; 10]);
    let sampled = taken(&options(100), SAMPLE_BYTES_MAX, &lengths);
    let kept: Vec<u64> = sampled.classes.iter().map(|class| class.kept).collect();
    assert_eq!(kept, [83, 9, 0, 8, 0]);
    assert_eq!(sampled.payloads.len(), 100);
    assert!(keys(&sampled).is_sorted());
}

#[test]
fn the_seed_alone_decides() {
    let lengths = vec![100; 1_000];
    let with = |seed| {
        let options = SampleOptions { seed, ..options(50) };
        keys(&taken(&options, SAMPLE_BYTES_MAX, &lengths))
    };
    assert_eq!(with(7), with(7));
    assert_ne!(with(7), with(8));
}

/// The bound is six standard deviations of a binomial of 20,000 draws at one tenth.
#[test]
fn every_part_of_the_store_is_drawn_alike_also_where_memory_is_short() {
    let room = 100 * (100 + 2 + HELD_OVERHEAD_BYTES);
    for bytes_max in [SAMPLE_BYTES_MAX, room] {
        let (mut tenths, mut total) = ([0u32; 10], 0);
        for seed in 0..200 {
            let options = SampleOptions { seed: seed * 1_000_003, ..options(100) };
            for key in keys(&taken(&options, bytes_max, &[100; 1_000])) {
                tenths[key / 100] += 1;
                total += 1;
            }
        }
        for count in tenths {
            assert!(count.abs_diff(total / 10) < 255, "{tenths:?}");
        }
    }
}

#[test]
fn memory_is_bounded_and_large_payloads_do_not_push_small_ones_out() {
    let mut lengths = Vec::new();
    for _ in 0..100 {
        lengths.extend([100, 200_000]);
    }
    let bytes_max = 2_000_000;
    let sampled = taken(&options(200), bytes_max, &lengths);
    let bytes: usize = sampled.payloads.iter().map(|taken| taken.bytes.len()).sum();
    assert!(bytes as u64 <= bytes_max, "{bytes}");
    let kept: Vec<u64> = sampled.classes.iter().map(|class| class.kept).collect();
    assert_eq!(kept[0], 100);
    assert!((5..10).contains(&kept[4]), "{kept:?}");
}

#[test]
fn it_ends_where_the_user_stops_it_or_enough_was_looked_at() {
    let options = SampleOptions { scan_limit: 30, ..options(100) };
    let sampled = taken(&options, SAMPLE_BYTES_MAX, &[10; 100]);
    assert!(sampled.has_reached_limit && !sampled.is_cut_short);
    assert_eq!(sampled.payloads.len(), 30);
    let (stop, mut progress) = (AtomicBool::new(false), |_, _| {});
    let mut taker = Taker::new(&options, &stop, &mut progress);
    assert!(taker.list(29).is_continue() && taker.list(1).is_break());
    assert!(taker.offer("chosen before", b"{}").is_continue());
    stop.store(true, Memory::Relaxed);
    assert!(taker.offer("key", b"{}").is_break());
    assert!(taker.finish().is_cut_short);
}

#[test]
fn what_is_refused_is_counted_by_its_reason() {
    let (stop, options) = (AtomicBool::new(false), options(10));
    let mut told = Vec::new();
    let mut progress = |seen, kept| told.push((seen, kept));
    let mut taker = Taker::new(&options, &stop, &mut progress);
    for value in [&b"{}"[..], b"\x80\x04}.", b"\x80\x02}.", b""] {
        assert!(taker.offer("key", value).is_continue());
    }
    assert!(taker.refuse("tombstone").is_continue());
    let sampled = taker.finish();
    let refused: Vec<_> = sampled.refused.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(refused, [("empty", 1), ("pickle", 2), ("tombstone", 1)]);
    assert_eq!((sampled.seen, sampled.payloads.len()), (5, 1));
    assert_eq!(told, [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
}

/// Waiting is asked for, so this can only take longer on a busy machine, never less.
#[test]
fn the_pace_is_kept() {
    let (stop, mut progress) = (AtomicBool::new(false), |_, _| {});
    let options = SampleOptions { rate_per_second: Some(200), ..options(10) };
    let start = Instant::now();
    let mut taker = Taker::new(&options, &stop, &mut progress);
    for _ in 0..21 {
        assert!(taker.offer("key", b"{}").is_continue());
    }
    assert!(start.elapsed() >= Duration::from_millis(100));
}
