//! Cargo builds a package's binary beside its tests only where the package has a test of its own.
//! So this file is what gives the tests that drive carts their service, built by the same
//! compilation of every library; it checks that a start without stores is refused in words.

use std::process::Command;

#[test]
fn a_start_without_stores_is_refused_in_words() {
    let ran = Command::new(env!("CARGO_BIN_EXE_cart-service")).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(2));
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(told.contains("--cache") && told.contains("--persistent"), "{told}");
}
