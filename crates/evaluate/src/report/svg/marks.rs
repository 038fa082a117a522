//! Shapes of encodings: one path per encoding around the origin, all of about the same area.
//!
//! A known encoding keeps its shape from report to report; add shapes at the end.

use std::f64::consts::TAU;

/// The shapes, in the order in which unknown encodings take what is left.
const SHAPES: [fn(f64) -> String; 10] = [
    circle,
    |radius| square(radius * 0.9),
    |radius| polygon(&regular(4, radius * 1.25, 0.0)),
    |radius| polygon(&regular(3, radius * 1.32, 0.0)),
    |radius| polygon(&regular(3, radius * 1.32, 0.5)),
    |radius| polygon(&star(radius * 1.45)),
    |radius| polygon(&regular(5, radius * 1.14, 0.0)),
    |radius| polygon(&cross(radius, 0.0)),
    |radius| polygon(&cross(radius, 0.125)),
    |radius| polygon(&regular(6, radius * 1.1, 0.25)),
];

const ENCODING_SHAPES: [(&str, usize); 8] = [
    ("json", 0),
    ("verbatim", 1),
    ("msgpack", 2),
    ("cbor", 3),
    ("bson", 4),
    ("columnar", 5),
    ("smile", 6),
    ("json-simd", 9),
];

/// Gives every encoding of a report its shape, in the order in which they are asked for.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    given: Vec<(String, usize)>,
}

impl Shapes {
    /// The path of an encoding's mark around the origin.
    pub(super) fn path(&mut self, encoding: &str, radius: f64) -> String {
        SHAPES[self.number(encoding)](radius)
    }

    fn number(&mut self, encoding: &str) -> usize {
        if let Some((_, number)) = self.given.iter().find(|(name, _)| name == encoding) {
            return *number;
        }
        let known = ENCODING_SHAPES.iter().find(|(name, _)| *name == encoding);
        let taken = |number: &usize| {
            self.given.iter().any(|(_, given)| given == number)
                || ENCODING_SHAPES.iter().any(|(_, known)| known == number)
        };
        let free = || (0..SHAPES.len()).find(|number| !taken(number));
        let number = known
            .map(|(_, number)| *number)
            .or_else(free)
            .unwrap_or(self.given.len() % SHAPES.len());
        self.given.push((encoding.to_owned(), number));
        number
    }
}

fn circle(radius: f64) -> String {
    let arc = format!("A{radius:.1} {radius:.1} 0 1 1 ");
    format!("M{radius:.1} 0{arc}-{radius:.1} 0{arc}{radius:.1} 0Z")
}

fn square(half: f64) -> String {
    polygon(&[(-half, -half), (half, -half), (half, half), (-half, half)])
}

/// Corners of a regular polygon whose first corner is at the top, turned by a share of a turn.
fn regular(corners: usize, radius: f64, turn: f64) -> Vec<(f64, f64)> {
    let angle = |corner: usize| TAU * (corner as f64 / corners as f64 + turn - 0.25);
    (0..corners)
        .map(|corner| (radius * angle(corner).cos(), radius * angle(corner).sin()))
        .collect()
}

fn star(radius: f64) -> Vec<(f64, f64)> {
    let (tips, notches) = (regular(5, radius, 0.0), regular(5, radius * 0.45, 0.1));
    tips.into_iter().zip(notches).flat_map(|(tip, notch)| [tip, notch]).collect()
}

fn cross(radius: f64, turn: f64) -> Vec<(f64, f64)> {
    let (long, thick) = (radius * 1.2, radius * 0.42);
    let arm = [(-thick, -thick), (-thick, -long), (thick, -long)];
    let turned = |(x, y): (f64, f64), turn: f64| {
        let (sine, cosine) = (TAU * turn).sin_cos();
        (x * cosine - y * sine, x * sine + y * cosine)
    };
    (0..4)
        .flat_map(|side| arm.map(|corner| turned(corner, turn + f64::from(side) * 0.25)))
        .collect()
}

fn polygon(corners: &[(f64, f64)]) -> String {
    let points: Vec<String> = corners.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    format!("M{}Z", points.join("L"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_have_shapes_of_their_own() {
        let mut shapes = Shapes::default();
        let mut seen: Vec<String> =
            ENCODING_SHAPES.iter().map(|(name, _)| shapes.path(name, 5.0)).collect();
        seen.push(shapes.path("protobuf", 5.0));
        seen.push(shapes.path("avro", 5.0));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), SHAPES.len());
        assert!(shapes.path("one more", 5.0).starts_with('M'));
    }
}
