//! The detail that a delivery service's menu adds to a dish: a description for the guest, and the
//! groups of choices (sizes, sauces, extras) with their own prices.

use super::dishes::Dish;
use super::words::{INGREDIENTS, SIDES};
use crate::json;
use crate::random::Random;

const OPENINGS: [&str; 8] = [
    "Frisch zubereitet mit ",
    "Langsam gegart, verfeinert mit ",
    "Serviert mit ",
    "Unser Klassiker mit ",
    "Aus dem Ofen, dazu ",
    "Leicht und bunt: ",
    "Nach altem Rezept mit ",
    "Täglich neu, heute mit ",
];

const GROUPS: [(&str, [&str; 4]); 6] = [
    ("Größe", ["Klein", "Normal", "Groß", "Familie"]),
    ("Soße", ["Ohne Soße", "Tomatensoße", "Kräuterdip", "Scharfe Soße"]),
    ("Extras", ["Käse", "Röstzwiebeln", "Spiegelei", "Gemüse"]),
    ("Getränk", ["Wasser", "Apfelschorle", "Limonade", "Eistee"]),
    ("Beilage", ["Reis", "Kartoffeln", "Salat", "Brot"]),
    ("Zubereitung", ["Mild", "Mittel", "Scharf", "Ohne Knoblauch"]),
];

/// Appends the description and the choices to an open dish.
pub(super) fn write_detail(dish: &Dish, random: &mut Random, output: &mut String) {
    output.push_str(",\"description\":\"");
    output.push_str(random.pick(&OPENINGS));
    for word in 0..random.between(2, 5) {
        if word > 0 {
            output.push_str(", ");
        }
        let words: &[&str] = if word % 2 == 0 { &SIDES } else { &INGREDIENTS };
        output.push_str(random.pick(words));
    }
    output.push_str(".\",\"options\":[");
    let groups = random.below(3);
    for position in 0..groups {
        if position > 0 {
            output.push(',');
        }
        write_group(dish, random, output);
    }
    output.push(']');
}

fn write_group(dish: &Dish, random: &mut Random, output: &mut String) {
    let (name, choices) = random.pick(&GROUPS);
    output.push_str("{\"name\":");
    json::quoted(output, name);
    output.push_str(",\"min\":0,\"max\":");
    json::integer(output, u64::from(random.between(1, 3)));
    output.push_str(",\"choices\":[");
    for (position, choice) in choices.iter().take(2 + dish.price % 3).enumerate() {
        if position > 0 {
            output.push(',');
        }
        output.push_str("{\"name\":");
        json::quoted(output, choice);
        output.push_str(",\"price\":");
        json::cents(output, i64::from(random.below(10)) * 25);
        output.push_str(",\"available\":");
        json::boolean(output, random.chance(950));
        output.push('}');
    }
    output.push_str("]}");
}
