//! Half-precision floats, which Rust's stable library does not have.
//!
//! `from_single` must answer only for values that survive the way back: preferred serialisation
//! shortens a float only where the value stays the same.

/// The half that has exactly this value, as its bits.
#[inline]
pub(super) fn from_single(value: f32) -> Option<u16> {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let mantissa = bits & 0x7F_FFFF;
    let exponent = (bits >> 23 & 0xFF) as i32 - 127;
    match exponent {
        -127 if mantissa == 0 => Some(sign),
        -14..=15 if mantissa & 0x1FFF == 0 => {
            Some(sign | ((exponent + 15) as u16) << 10 | (mantissa >> 13) as u16)
        }
        // Below 2^-14 halves have a fixed exponent; the leading one is written out.
        -24..=-15 => {
            let whole = mantissa | 0x80_0000;
            let shift = (-14 - exponent + 13) as u32;
            let is_exact = whole & ((1 << shift) - 1) == 0;
            is_exact.then_some(sign | (whole >> shift) as u16)
        }
        _ => None,
    }
}

/// The value of a half, also where it is NaN or an infinity.
#[inline]
pub(super) fn to_double(bits: u16) -> f64 {
    let exponent = u64::from(bits >> 10 & 0x1F);
    let mantissa = u64::from(bits & 0x3FF);
    let value = match exponent {
        // 2^-24 is the smallest half.
        0 => mantissa as f64 / 16_777_216.0,
        31 => f64::from_bits(0x7FF << 52 | mantissa << 42),
        _ => f64::from_bits((exponent + 1023 - 15) << 52 | mantissa << 42),
    };
    if bits & 0x8000 == 0 { value } else { -value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_half_survives_and_nothing_else_is_one() {
        for bits in 0..=u16::MAX {
            let value = to_double(bits);
            if value.is_finite() {
                let single = value as f32;
                assert_eq!(from_single(single), Some(bits));
                if value != 0.0 {
                    assert_eq!(from_single(f32::from_bits(single.to_bits() + 1)), None);
                }
            }
        }
        assert_eq!(to_double(0x7C00), f64::INFINITY);
        assert!(to_double(0x7C01).is_nan());
        for value in [f32::MIN_POSITIVE, 65505.0, 65536.0, 2_f32.powi(-25), f32::MAX, 1e-40] {
            assert_eq!(from_single(value), None, "{value}");
        }
    }
}
