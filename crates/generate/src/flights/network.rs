//! The airports, airlines and routes that a corpus of flight lists describes.
//! All of them are invented: places and carriers are built from syllables.

use crate::random::Random;

const AIRPORTS: u32 = 36;
const AIRLINES: u32 = 70;
const ROUTES: u32 = 103;

const BEGINNINGS: [&str; 20] = [
    "Mar", "Vel", "Tor", "San", "Kel", "Por", "Lin", "Bra", "Osta", "Hel", "Cal", "Nor", "Vin",
    "Zar", "Mon", "Fer", "Gal", "Rav", "Sil", "Tam",
];

const ENDINGS: [&str; 16] = [
    "abel", "enna", "ovia", "burg", "mouth", "ville", "andra", "stad", "iras", "oma", "port",
    "una", "ezzo", "holm", "anto", "field",
];

const CARRIER_WORDS: [&str; 10] = [
    " Airways",
    " Airlines",
    " Air",
    " Pacific",
    " Atlantic",
    "",
    "",
    " Wings",
    " Jet",
    " Express",
];

pub(super) struct Airport {
    pub(super) code: String,
    pub(super) city: String,
}

/// A connection between two airports, with what flying it costs and takes.
pub(super) struct Route {
    pub(super) origin: usize,
    pub(super) destination: usize,
    pub(super) cheapest_price: u32,
    shortest_minutes: u32,
    served_nonstop: bool,
    carriers: Vec<usize>,
}

/// One way to fly a route.
pub(super) struct Offer {
    pub(super) airline: usize,
    pub(super) stops: u32,
    pub(super) duration_minutes: u32,
}

pub(super) struct Network {
    airports: Vec<Airport>,
    airlines: Vec<String>,
    routes: Vec<Route>,
}

impl Network {
    pub(super) fn new(random: &mut Random) -> Self {
        let airports: Vec<Airport> = (0..AIRPORTS).map(|_| Airport::new(random)).collect();
        let airlines = (0..AIRLINES).map(|_| airline(random)).collect();
        let routes = (0..ROUTES).map(|_| Route::new(random)).collect();
        Self { airports, airlines, routes }
    }

    pub(super) fn route(&self, random: &mut Random) -> &Route {
        &self.routes[random.skewed(ROUTES) as usize]
    }

    pub(super) fn airport(&self, number: usize) -> &Airport {
        &self.airports[number]
    }

    pub(super) fn airline(&self, number: usize) -> &str {
        &self.airlines[number]
    }
}

impl Airport {
    fn new(random: &mut Random) -> Self {
        let city = place(random);
        let mut code = city[..2].to_ascii_uppercase();
        code.push(char::from(b'A' + random.below(26) as u8));
        Self { code, city }
    }
}

impl Route {
    fn new(random: &mut Random) -> Self {
        let origin = random.below(AIRPORTS);
        let destination = (origin + random.between(1, AIRPORTS - 1)) % AIRPORTS;
        let shortest_minutes = random.between(20, 190) * 5;
        Self {
            origin: origin as usize,
            destination: destination as usize,
            cheapest_price: 60 + shortest_minutes * random.between(20, 90) / 100,
            shortest_minutes,
            served_nonstop: random.chance(800),
            carriers: (0..6).map(|_| random.skewed(AIRLINES) as usize).collect(),
        }
    }

    /// Draws a way to fly: mostly by the first carriers, and at a usual duration.
    pub(super) fn offer(&self, random: &mut Random) -> Offer {
        let stops = match random.below(100) {
            0..88 => 0,
            88..97 => 1,
            _ => 2,
        } + u32::from(!self.served_nonstop);
        Offer {
            airline: self.carriers[random.skewed(self.carriers.len() as u32) as usize],
            stops,
            duration_minutes: self.shortest_minutes + stops * 150 + random.skewed(6) * 5,
        }
    }
}

fn place(random: &mut Random) -> String {
    [random.pick(&BEGINNINGS), random.pick(&ENDINGS)].concat()
}

fn airline(random: &mut Random) -> String {
    let mut name = place(random);
    name.push_str(random.pick(&CARRIER_WORDS));
    if random.chance(60) {
        // Shared flights come with both carriers' names run together, as search pages show them.
        name.push_str(&place(random));
        name.push_str(random.pick(&CARRIER_WORDS));
    }
    name
}
