namespace py shop
typedef i64 Cents
enum Kind { NONE, GIFT }

/* What is
   in a cart. */
struct Item { 1: required string sku, 2: optional i32 count = 1; }

struct Cart {
  1: string id
  2: list<Item> items (cinch.key = "lines")
  3: map<string, Cents> totals
  4: Kind kind # a word
  5: binary blob
  6: list<double> weights
  7: string card
  8: bool cash
  9: i64 user_id
}

service Shop { void put(1: Cart cart) }
