//! Tests of this module, kept apart because they are longer than what they test.
//! Each is named after what a user would notice.
