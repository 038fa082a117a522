//! Restaurant menus of an exact size, like those that DoorDash kept in Redis: a store, its
//! categories, and dishes that repeat the same groups of choices in full.
//!
//! A restaurant has a dozen such groups (sides, sauces, sizes), and nearly every dish has some of
//! them. That is what LZ4 finds, and why a menu shrinks to a fifth.

use super::prose;
use crate::json;
use crate::random::Random;

/// The ids that a restaurant gives out follow each other, with gaps.
const ID_GAP_MAX: u32 = 40;

/// A restaurant has another group of choices for each so many bytes of its menu, and these many
/// at least and at most.
const GROUP_PER_BYTES: usize = 4_000;
const GROUPS_MIN: usize = 5;
const GROUPS_MAX: usize = 60;

/// Most dishes with choices have so many groups of them.
const GROUPS_OF_DISH: [usize; 7] = [1, 1, 2, 2, 2, 3, 4];

/// How many of a thousand dishes have choices, in restaurants of many kinds: most sell what the
/// menu says. The two published menus are those of large chains, which let their guests choose.
const CHOICES_PERMILLE: [u32; 8] = [0, 0, 0, 0, 0, 0, 20, 100];
const CHOICES_PERMILLE_OF_CHAINS: u32 = 700;

const CATEGORIES: [&str; 14] = [
    "Starters",
    "Salads",
    "Soups",
    "Sandwiches",
    "Burgers",
    "Pasta",
    "Pizza",
    "Grill",
    "Seafood",
    "Bowls",
    "Sides",
    "Desserts",
    "Drinks",
    "For Kids",
];

const MANNERS: [&str; 16] = [
    "Grilled",
    "Crispy",
    "Spicy",
    "Roasted",
    "Smoked",
    "Classic",
    "Homestyle",
    "Fresh",
    "Glazed",
    "Stuffed",
    "Blackened",
    "Creamy",
    "Garden",
    "Southern",
    "Loaded",
    "Golden",
];

const INGREDIENTS: [&str; 32] = [
    "Chicken",
    "Beef",
    "Salmon",
    "Shrimp",
    "Turkey",
    "Pork",
    "Tofu",
    "Mushroom",
    "Avocado",
    "Spinach",
    "Broccoli",
    "Tomato",
    "Cheddar",
    "Mozzarella",
    "Bacon",
    "Egg",
    "Potato",
    "Corn",
    "Black Bean",
    "Pepper",
    "Onion",
    "Garlic",
    "Lemon",
    "Basil",
    "Apple",
    "Mango",
    "Walnut",
    "Rice",
    "Noodle",
    "Lettuce",
    "Cucumber",
    "Chocolate",
];

const FORMS: [&str; 16] = [
    "Sandwich",
    "Wrap",
    "Salad",
    "Bowl",
    "Pasta",
    "Tacos",
    "Burger",
    "Plate",
    "Soup",
    "Skewers",
    "Flatbread",
    "Melt",
    "Stack",
    "Bites",
    "Roll",
    "Casserole",
];

const GROUP_NAMES: [&str; 12] = [
    "Choose your side",
    "Choose a sauce",
    "Add extras",
    "Choose a size",
    "Choose a drink",
    "Choose your bread",
    "Choose a dressing",
    "How would you like it cooked?",
    "Remove items",
    "Add protein",
    "Make it a meal",
    "Add a dessert",
];

pub(super) struct Menus {
    cities: Vec<String>,
}

impl Menus {
    pub(super) fn new(random: &mut Random) -> Self {
        let city = |_| {
            let mut city = String::from(random.pick(&["Oak", "River", "Lake", "Green", "West"]));
            city.push_str(random.pick(&["ton", "wood", "field", "view", " Park", "dale"]));
            city
        };
        Self { cities: (0..40).map(city).collect() }
    }

    /// A menu of exactly `bytes`, which must be enough for its head.
    pub(super) fn menu(&self, bytes: usize, of_chain: bool, random: &mut Random) -> String {
        let choices =
            if of_chain { CHOICES_PERMILLE_OF_CHAINS } else { random.pick(&CHOICES_PERMILLE) };
        let mut ids = 1_000_000 + u64::from(random.bits() % 90_000_000);
        let mut output = self.head(ids, random);
        let count = (bytes / GROUP_PER_BYTES).clamp(GROUPS_MIN, GROUPS_MAX);
        let groups: Vec<String> = (0..count).map(|_| group(&mut ids, random)).collect();
        let tail = "]}],\"notice\":\"\"}";
        let mut dish = String::new();
        let (mut category, mut left_in_category) = (0, 0);
        let mut position = 0;
        loop {
            let opens_category = left_in_category == 0;
            dish.clear();
            if opens_category {
                if category > 0 {
                    dish.push_str("]},");
                }
                open_category(&mut dish, category, &mut ids, random);
                left_in_category = random.between(6, 18);
                category += 1;
                position = 0;
            }
            if position > 0 {
                dish.push(',');
            }
            write_dish(&mut dish, &mut ids, random);
            let room = bytes.saturating_sub(output.len() + tail.len());
            if dish.len() + 2 > room {
                // Only the first category is always opened: a menu has at least one.
                if category > 1 || !opens_category {
                    break;
                }
            }
            write_groups(&mut dish, &groups, choices, room, random);
            output.push_str(&dish);
            position += 1;
            left_in_category -= 1;
        }
        output.push_str("]}],\"notice\":\"");
        let notice = bytes.saturating_sub(output.len() + 2);
        prose::write(&mut output, notice, random);
        output.push_str("\"}");
        output
    }

    fn head(&self, id: u64, random: &mut Random) -> String {
        let mut head = String::from("{\"store\":{\"id\":");
        json::integer(&mut head, id);
        head.push_str(",\"name\":\"");
        name(&mut head, random);
        head.push_str(" House\",\"address\":{\"street\":\"");
        json::integer(&mut head, u64::from(random.between(1, 9_999)));
        head.push_str(" Main Street\",\"city\":\"");
        head.push_str(&self.cities[random.below(self.cities.len() as u32) as usize]);
        head.push_str("\",\"postal_code\":\"");
        json::padded(&mut head, u64::from(random.below(100_000)), 5);
        head.push_str("\"},\"phone\":\"");
        json::integer(&mut head, 2_000_000_000 + u64::from(random.below(1_000_000_000)));
        head.push_str("\",\"rating\":4.");
        json::integer(&mut head, u64::from(random.below(10)));
        head.push_str(",\"hours\":[");
        for day in 0..7 {
            if day > 0 {
                head.push(',');
            }
            head.push_str("{\"day\":");
            json::integer(&mut head, day);
            head.push_str(",\"open\":\"10:30\",\"close\":\"");
            head.push_str(if day < 5 { "21:30\"}" } else { "22:30\"}" });
        }
        head.push_str("]},\"currency\":\"USD\",\"categories\":[");
        head
    }
}

fn next(ids: &mut u64, random: &mut Random) -> u64 {
    *ids += u64::from(random.between(1, ID_GAP_MAX));
    *ids
}

fn open_category(output: &mut String, category: usize, ids: &mut u64, random: &mut Random) {
    output.push_str("{\"id\":");
    json::integer(output, next(ids, random));
    output.push_str(",\"title\":\"");
    output.push_str(CATEGORIES[category % CATEGORIES.len()]);
    output.push_str("\",\"subtitle\":\"\",\"sort_id\":");
    json::integer(output, category as u64);
    output.push_str(",\"items\":[");
}

fn name(output: &mut String, random: &mut Random) {
    output.push_str(random.pick(&MANNERS));
    output.push(' ');
    output.push_str(random.pick(&INGREDIENTS));
    output.push(' ');
    output.push_str(random.pick(&FORMS));
}

/// A dish up to its groups of choices.
fn write_dish(output: &mut String, ids: &mut u64, random: &mut Random) {
    let id = next(ids, random);
    output.push_str("{\"id\":");
    json::integer(output, id);
    output.push_str(",\"name\":\"");
    name(output, random);
    output.push_str("\",\"description\":\"");
    for position in 0..random.between(6, 14) {
        output.push_str(match position {
            0 => "",
            1 => " with ",
            2 => " and ",
            _ => ", ",
        });
        if random.chance(400) {
            let manner = random.pick(&MANNERS).to_lowercase();
            output.push_str(&manner);
            output.push(' ');
        }
        output.push_str(&random.pick(&INGREDIENTS).to_lowercase());
    }
    output.push_str(".\",\"price\":");
    json::integer(output, u64::from(random.between(8, 60)) * 50 - 1);
    output.push_str(",\"image_url\":\"https://img.example/media/photos/");
    json::hexadecimal(output, random.wide_bits(), 16);
    json::hexadecimal(output, random.wide_bits(), 16);
    output.push_str(".jpg\"");
    output.push_str(",\"calories\":");
    json::integer(output, u64::from(random.between(12, 140)) * 10);
    output.push_str(",\"extras\":[");
}

/// The groups of a dish, as many as were drawn and fit the room.
fn write_groups(
    output: &mut String,
    groups: &[String],
    choices: u32,
    room: usize,
    random: &mut Random,
) {
    let first = random.below(groups.len() as u32) as usize;
    let wanted = if random.chance(choices) { random.pick(&GROUPS_OF_DISH) } else { 0 };
    let drawn = groups.iter().cycle().skip(first).take(wanted);
    for (position, group) in drawn.enumerate() {
        if output.len() + group.len() + 3 > room {
            break;
        }
        if position > 0 {
            output.push(',');
        }
        output.push_str(group);
    }
    output.push_str("]}");
}

fn group(ids: &mut u64, random: &mut Random) -> String {
    let mut group = String::from("{\"id\":");
    json::integer(&mut group, next(ids, random));
    group.push_str(",\"name\":\"");
    group.push_str(random.pick(&GROUP_NAMES));
    group.push_str("\",\"min_options\":");
    json::integer(&mut group, u64::from(random.below(2)));
    group.push_str(",\"max_options\":");
    json::integer(&mut group, u64::from(random.between(1, 4)));
    group.push_str(",\"options\":[");
    for position in 0..random.between(3, 9) {
        if position > 0 {
            group.push(',');
        }
        group.push_str("{\"id\":");
        json::integer(&mut group, next(ids, random));
        group.push_str(",\"name\":\"");
        if random.chance(500) {
            group.push_str(random.pick(&MANNERS));
            group.push(' ');
        }
        group.push_str(random.pick(&INGREDIENTS));
        group.push_str("\",\"price\":");
        json::integer(&mut group, u64::from(random.steep(8)) * 50);
        group.push_str(",\"is_active\":true,\"default\":false}");
    }
    group.push_str("]}");
    group
}
