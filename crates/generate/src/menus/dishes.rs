//! The dishes that the places of a corpus serve, each built once with its name, labels and codes
//! already written, because a dish returns every few weeks with the same ones.

use super::words::{CONTENTS, COURSES, FORMS, INGREDIENTS, MANNERS, SIDES};
use crate::json;
use crate::quantiles::Quantiles;
use crate::random::{Random, mix};

const DISHES: u32 = 7000;

/// Measured popularity, every 1/16 of the servings: fifty dishes make a third of them.
const POPULARITY: Quantiles =
    Quantiles(&[0, 3, 9, 18, 30, 48, 82, 135, 215, 330, 480, 700, 980, 1350, 1900, 2800, DISHES]);

/// Measured labels per dish, every 10 %.
const LABELS: Quantiles = Quantiles(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 16]);

/// What a dish contains follows from how it is made, so most dishes share their list of contents
/// with many others.
const RECIPES: u32 = 48;
const COMMON_RECIPE_PERMILLE: u32 = 850;

/// The dishes by which two places differ: the popular sides are the same everywhere.
const SHARED_DISHES: u32 = 60;
const PLACE_STRIDE: u64 = 331;

/// How many dishes the list of a season has, and how often a place serves from it.
const SEASON_DISHES: u32 = 36;
const SEASONAL_PERMILLE: u32 = 580;

/// One dish with the parts of its entry that never change.
pub(super) struct Dish {
    /// The entry up to and with its name.
    pub(super) head: String,
    pub(super) labels: String,
    pub(super) codes: String,
    pub(super) course: String,
    pub(super) price: usize,
}

/// The label of the full form and the code of the plain one.
type Content = (&'static str, &'static str);

pub(super) struct Dishes(Vec<Dish>);

impl Dishes {
    pub(super) fn new(random: &mut Random) -> Self {
        let recipes: Vec<Vec<Content>> = (0..RECIPES).map(|_| contents(random)).collect();
        Self((0..DISHES).map(|rank| Dish::new(rank, &recipes, random)).collect())
    }

    /// Draws the number of a dish that a place serves, by its popularity there. Some dishes come
    /// from the short list of the season, which a few weeks of a few places share.
    pub(super) fn served(&self, place: u64, season: u64, random: &mut Random) -> usize {
        let rank = if random.chance(SEASONAL_PERMILLE) {
            let position = u64::from(random.below(SEASON_DISHES));
            POPULARITY.at(mix(mix(season) ^ position) as u32)
        } else {
            POPULARITY.draw(random)
        };
        if rank < SHARED_DISHES {
            rank as usize
        } else {
            let own = u64::from(rank - SHARED_DISHES) + place / 3 * PLACE_STRIDE;
            (u64::from(SHARED_DISHES) + own % u64::from(DISHES - SHARED_DISHES)) as usize
        }
    }

    pub(super) fn dish(&self, number: usize) -> &Dish {
        &self.0[number]
    }
}

impl Dish {
    fn new(rank: u32, recipes: &[Vec<Content>], random: &mut Random) -> Self {
        let mut head = String::from("{\"name\":");
        json::quoted(&mut head, &name(rank, random));
        let contents = if random.chance(COMMON_RECIPE_PERMILLE) {
            recipes[random.skewed(RECIPES) as usize].clone()
        } else {
            contents(random)
        };
        let mut course = String::new();
        let courses = if rank < SHARED_DISHES { 3 } else { COURSES.len() as u32 };
        json::quoted(&mut course, COURSES[random.skewed(courses) as usize]);
        Self {
            head,
            labels: list(contents.iter().map(|content| content.0).collect()),
            codes: list(contents.iter().take(4).map(|content| content.1).collect()),
            course,
            price: random.steep(super::prices::LEVELS) as usize,
        }
    }
}

fn name(rank: u32, random: &mut Random) -> String {
    if rank < SHARED_DISHES && random.chance(600) {
        return String::from(random.pick(&SIDES));
    }
    let mut name = String::from(random.pick(&MANNERS));
    name.push_str(random.pick(&INGREDIENTS));
    name.push_str(random.pick(&FORMS));
    match random.below(100) {
        0..45 => {}
        45..85 => name.extend([" mit ", random.pick(&SIDES)]),
        _ => name.extend([" mit ", random.pick(&SIDES), ", dazu ", random.pick(&SIDES)]),
    }
    if random.chance(25) {
        name.push_str(" \"Art des Hauses\"");
    }
    name
}

/// Draws what a dish contains, the frequent contents of the table more often.
fn contents(random: &mut Random) -> Vec<Content> {
    let wanted = LABELS.draw(random);
    let mut chosen = Vec::new();
    for _ in 0..wanted {
        let content = CONTENTS[random.skewed(CONTENTS.len() as u32) as usize];
        if !chosen.contains(&content) {
            chosen.push(content);
        }
    }
    chosen
}

fn list(mut texts: Vec<&str>) -> String {
    texts.sort_unstable();
    let mut written = String::from("[");
    for (position, text) in texts.into_iter().enumerate() {
        if position > 0 {
            written.push(',');
        }
        json::quoted(&mut written, text);
    }
    written.push(']');
    written
}

#[cfg(test)]
mod tests {
    use super::{DISHES, Dishes};
    use crate::random::{Key, Random};
    use std::collections::BTreeSet;

    #[test]
    fn most_dishes_have_a_name_of_their_own() {
        let dishes = Dishes::new(&mut Random::for_catalogue(&Key::new("menus", 1)));
        let names: BTreeSet<&str> = dishes.0.iter().map(|dish| dish.head.as_str()).collect();
        assert!(names.len() * 10 > DISHES as usize * 9, "{} names", names.len());
    }

    #[test]
    fn places_share_their_sides_but_not_their_main_dishes() {
        let dishes = Dishes::new(&mut Random::for_catalogue(&Key::new("menus", 1)));
        let served = |place| -> BTreeSet<&str> {
            let mut random = Random::new(&Key::new("menus", 1), 0);
            (0..300)
                .map(|_| dishes.dish(dishes.served(place, 0, &mut random)).head.as_str())
                .collect()
        };
        let both = served(0).intersection(&served(9)).count();
        assert!((20..80).contains(&both), "{both} dishes in common");
    }
}
