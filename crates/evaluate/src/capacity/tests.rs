//! Tests of the capacity model against published arithmetic and against simulation by the day,
//! and of how its arguments are read.

use super::*;

fn capacity(rate: &str, disk: &str) -> Capacity {
    Capacity::parse(rate, disk).unwrap()
}

/// A million trips of 20 KB a day on 1 TB last "just 51 days", and 30 where 40 % of the disk are
/// used otherwise. 20 GB a day fill 10^12 bytes in 50 days; the published 51 and 30 are those of
/// a TB of 1,024 GB. MessagePack with zlib makes "just under 3 GB" of them, which last 347 days
/// on the whole of that disk: 2.95 GB. The 2,822 bytes that it also gives would last 362.
#[test]
fn the_published_trips_come_out_on_a_terabyte_of_1024_gigabytes() {
    let trips = capacity("1M/day", "1024GB").with_overhead("40%").unwrap();
    let now = trips.row("verbatim+stored", "now", 20_000.0);
    assert_eq!(now.bytes_per_day, 20e9);
    assert_eq!(days_text(now.days_gross), "51 days");
    assert_eq!(days_text(now.days_net), "30 days");
    let packed = trips.row("msgpack+zlib:6", "recommended", 2_950.0);
    assert_eq!(days_text(packed.days_gross), "347 days");
    assert_eq!(days_text(packed.days_net), "208 days");
    assert_eq!(days_text(trips.row("", "", 2_822.0).days_gross), "362 days");
    // As sizes are written here, a TB is 10^12 bytes.
    let decimal = capacity("1M/day", "1TB").row("", "", 20_000.0);
    assert_eq!(days_text(decimal.days_gross), "50 days");
}

#[test]
fn growth_compounds_by_the_day() {
    let growing = capacity("1000/day", "1GB").with_growth("10%/month").unwrap();
    let row = growing.row("", "", 1_000.0);
    let factor = 1.1_f64.powf(12.0 / 365.0);
    let (mut stored, mut today, mut days, mut after_year) = (0.0, 1e6, 0, 0.0);
    while stored < 1e9 {
        stored += today;
        today *= factor;
        days += 1;
        if days == 365 {
            after_year = stored;
        }
    }
    // Full in the course of the last day that the loop made.
    let last = f64::from(days);
    assert!((last - 1.0..=last).contains(&row.days_gross), "{} {days}", row.days_gross);
    assert!((row.bytes_after_year / after_year - 1.0).abs() < 1e-9);
    // By the month and by the year it is the same growth.
    let yearly = capacity("1000/day", "1GB").with_growth("213.8428376721%/year").unwrap();
    assert!((yearly.row("", "", 1_000.0).days_gross / row.days_gross - 1.0).abs() < 1e-9);
    assert!(row.days_gross < capacity("1000/day", "1GB").row("", "", 1_000.0).days_gross);
}

#[test]
fn what_never_fills_the_disk_has_a_finite_figure() {
    let falling = capacity("1000/day", "1GB").with_growth("-50%/month").unwrap();
    for row in [falling.row("", "", 1_000.0), capacity("1/day", "1PB").row("", "", 0.0)] {
        assert_eq!((row.days_gross, row.days_net), (DAYS_MAX, DAYS_MAX));
        assert!(row.bytes_after_year.is_finite());
        assert_eq!(days_text(row.days_net), "more than 1,000 years");
    }
}

#[test]
fn a_year_costs_what_lies_there_each_day() {
    // 1 GB a day: 1 GB lies there for the first day, 365 GB on the last; 183 on average.
    let priced = capacity("1M/day", "1TB").with_price("$0.10/GB").unwrap();
    let row = priced.row("", "", 1_000.0);
    assert!((row.price_of_year.unwrap() - 183.0 * 12.0 * 0.10).abs() < 1e-6);
    assert_eq!(capacity("1M/day", "1TB").row("", "", 1_000.0).price_of_year, None);
}

#[test]
fn arguments_are_read_with_their_units() {
    let rate = |text: &str| Capacity::parse(text, "1TB").map(|c| c.payloads_per_day);
    assert_eq!(rate("1M/day"), Ok(1e6));
    assert_eq!(rate("200/s"), Ok(17_280_000.0));
    assert_eq!(rate("1.5k/min"), Ok(2_160_000.0));
    assert_eq!(rate("2 B / hour"), Ok(48e9));
    for text in ["", "1M", "/day", "1M/fortnight", "0/day", "-1/day", "1X/s", "many/day"] {
        assert!(rate(text).unwrap_err().to_string().contains("1M/day"), "{text}");
    }
    let disk = |text: &str| Capacity::parse("1/s", text).map(|c| c.disk_bytes);
    assert_eq!(disk("1TB"), Ok(1e12));
    assert_eq!(disk("1TiB"), Ok(1_099_511_627_776.0));
    assert_eq!(disk("500 G"), Ok(5e11));
    for text in ["", "1", "0TB", "1XB", "TB", &format!("{}TB", "9".repeat(400))] {
        assert!(disk(text).unwrap_err().to_string().contains("1TB"), "{text}");
    }
    let base = || capacity("1/s", "1TB");
    assert_eq!(base().with_overhead("40%").unwrap().overhead_share, 0.4);
    assert_eq!(base().with_overhead("0.4").unwrap().overhead_share, 0.4);
    assert_eq!(base().with_growth("-5%").unwrap().growth_per_month, -0.05);
    for text in ["100%", "1.0", "-1%", "some"] {
        assert!(base().with_overhead(text).is_err(), "{text}");
    }
    for text in ["-100%/month", "10%/week", "1001%/month", "ten"] {
        assert!(base().with_growth(text).is_err(), "{text}");
    }
    assert_eq!(base().with_price("23/TB").unwrap().price_per_gb_month, Some(0.023));
    for text in ["0.1", "0.1/kg", "free", "-1/GB"] {
        assert!(base().with_price(text).is_err(), "{text}");
    }
}
