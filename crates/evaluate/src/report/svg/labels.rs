//! Places names beside points so that they cover neither each other nor the points.
//!
//! The method is simple on purpose: the most important name chooses first among a few places
//! around its point, and a name that finds no place is left out, because tables and tooltips
//! have it anyway. The same points always give the same places.

/// A name that wants a place.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) point: (f64, f64),
    pub(super) text: String,
    pub(super) is_bold: bool,
    /// How far the point's own mark and rings reach.
    pub(super) radius: f64,
}

/// A name that has one.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) text: String,
    pub(super) is_bold: bool,
    /// The left end of the text's baseline.
    pub(super) start: (f64, f64),
    /// From the point to a text that is far from it.
    pub(super) leader: Option<[(f64, f64); 2]>,
    area: Area,
}

/// What names had better not cover.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) area: Area,
    /// What covering it costs; a place farther away costs 12, and the next direction 1.
    pub(super) cost: usize,
    /// The point that a reader could take a name for, where the mark is one.
    pub(super) point: Option<(f64, f64)>,
}

/// A rectangle of the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// The square around a point.
    pub(super) fn around((x, y): (f64, f64), half: f64) -> Area {
        Area { left: x - half, top: y - half, right: x + half, bottom: y + half }
    }

    /// How far a point is from the nearest edge; zero inside.
    fn distance(&self, (x, y): (f64, f64)) -> f64 {
        let across = (self.left - x).max(x - self.right).max(0.0);
        let down = (self.top - y).max(y - self.bottom).max(0.0);
        across.hypot(down)
    }

    fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn holds(&self, other: &Area) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && self.right >= other.right
            && self.bottom >= other.bottom
    }
}

/// Width of a text in this size: an estimate that is rather too wide than too narrow.
pub(super) fn text_width(text: &str, font_size: f64) -> f64 {
    let of = |character: char| match character {
        'i' | 'j' | 'l' | '.' | ':' | ',' | '\'' | ' ' | '(' | ')' => 0.34,
        'm' | 'w' | 'M' | 'W' | '+' | '%' | '←' | '→' => 0.86,
        other if other.is_ascii() => 0.58,
        _ => 1.0,
    };
    text.chars().map(of).sum::<f64>() * font_size
}

/// Directions from a point, the best first: the lower left of a front is empty by definition.
const DIRECTIONS: [(f64, f64); 8] = [
    (-0.7, 0.7),
    (0.7, -0.7),
    (-1.0, 0.0),
    (1.0, 0.0),
    (0.0, 1.0),
    (0.7, 0.7),
    (-0.7, -0.7),
    (0.0, -1.0),
];

/// Places names in their order, away from `marks` as far as there is room.
pub(super) fn place(
    wanted: &[Wanted],
    marks: &[Mark],
    bounds: Area,
    font_size: f64,
) -> Vec<Placed> {
    let mut placed: Vec<Placed> = Vec::new();
    for name in wanted {
        let wider = if name.is_bold { 1.1 } else { 1.0 };
        let size = (text_width(&name.text, font_size) * wider, font_size * 1.15);
        let mut best: Option<(usize, Placed)> = None;
        for (far, distance) in
            [5.0, 17.0, 33.0, 52.0].map(|gap| name.radius + gap).into_iter().enumerate()
        {
            for (order, direction) in DIRECTIONS.into_iter().enumerate() {
                let area = beside(name.point, direction, distance, size);
                if !bounds.holds(&area) || placed.iter().any(|other| other.area.meets(&area)) {
                    continue;
                }
                let cost = covering(marks, name.point, &area) + far * 12 + order;
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    let leader =
                        (far > 0).then(|| leader(name.point, direction, name.radius, &area));
                    let start = (area.left, area.bottom - font_size * 0.3);
                    let (text, is_bold) = (name.text.clone(), name.is_bold);
                    best = Some((cost, Placed { text, is_bold, start, leader, area }));
                }
            }
        }
        placed.extend(best.map(|(_, name)| name));
    }
    placed
}

/// What it costs to put the name of `own` there: marks below it, and points nearer than its own.
fn covering(marks: &[Mark], own: (f64, f64), area: &Area) -> usize {
    let near = area.distance(own) + 4.0;
    let cost = |mark: &Mark| {
        let covered = if mark.area.meets(area) { mark.cost } else { 0 };
        let is_other = |point: &(f64, f64)| (point.0 - own.0).hypot(point.1 - own.1) > 0.5;
        let other = mark.point.filter(is_other);
        covered + if other.is_some_and(|point| area.distance(point) < near) { 15 } else { 0 }
    };
    marks.iter().map(cost).sum()
}

fn beside(point: (f64, f64), direction: (f64, f64), distance: f64, size: (f64, f64)) -> Area {
    let (x, y) = (point.0 + direction.0 * distance, point.1 + direction.1 * distance);
    // The text's own box begins where the direction points from, so that it never folds back.
    let left = x - size.0 * (1.0 - direction.0.signum() * f64::from(direction.0 != 0.0)) / 2.0;
    let top = y - size.1 * (1.0 - direction.1) / 2.0;
    Area { left, top, right: left + size.0, bottom: top + size.1 }
}

fn leader(point: (f64, f64), direction: (f64, f64), radius: f64, area: &Area) -> [(f64, f64); 2] {
    let from = (point.0 + direction.0 * radius, point.1 + direction.1 * radius);
    let to = (from.0.clamp(area.left, area.right), from.1.clamp(area.top, area.bottom));
    [from, to]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_cover_each_other_and_stay_inside() {
        let points = (0..30).map(|index| (40.0 + f64::from(index) * 9.0, 150.0));
        let wanted: Vec<Wanted> = points
            .map(|point| Wanted {
                point,
                text: "msgpack+zlib:6".to_owned(),
                is_bold: false,
                radius: 6.0,
            })
            .collect();
        let mark = |name: &Wanted| {
            let area = Area::around(name.point, 6.0);
            Mark { area, cost: 40, point: Some(name.point) }
        };
        let marks: Vec<Mark> = wanted.iter().map(mark).collect();
        let bounds = Area { left: 0.0, top: 0.0, right: 400.0, bottom: 300.0 };
        let placed = place(&wanted, &marks, bounds, 12.0);
        assert!(placed.len() > 5, "only {} names", placed.len());
        for (index, name) in placed.iter().enumerate() {
            assert!(bounds.holds(&name.area));
            assert!(placed[..index].iter().all(|other| !other.area.meets(&name.area)));
        }
    }
}
