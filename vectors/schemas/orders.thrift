// Written by cinch; spec/schema.md says what the annotations mean.

// A member that the schema has no place for.
struct CinchMember {
  1: optional string key
  2: optional string json
  3: optional i32 place
}

struct Node {
  1: optional i32 x
  2: optional Node node
  2047: optional list<CinchMember> cinch_rest (cinch.as = "rest")
}

struct TotalValue {
  1: optional i32 int_value
  2: optional string text_value
  3: optional bool null_value (cinch.as = "null")
} (cinch.as = "value")

struct Lines {
  1: optional string sku
  2: optional i32 n
  3: optional bool gift
  2047: optional list<CinchMember> cinch_rest (cinch.as = "rest")
}

struct Payload {
  1: optional i64 id
  2: optional Node node
  3: optional string name
  4: optional bool open
  5: optional bool open_null (cinch.key = "open", cinch.as = "null")
  6: optional list<i32> counts
  7: optional double x (cinch.key = "%c3%a9")
  8: optional double total
  9: optional string total_text (cinch.key = "total")
  10: optional list<TotalValue> total_list (cinch.key = "total")
  11: optional list<string> empty (cinch.as = "json")
  12: optional string big (cinch.as = "number")
  13: optional string huge (cinch.as = "number")
  14: optional map<string, i32> days
  15: optional list<Lines> lines
  16: optional string user_id (cinch.key = "user-id")
  17: optional bool note_null (cinch.key = "note", cinch.as = "null")
  18: optional list<string> tags
  2047: optional list<CinchMember> cinch_rest (cinch.as = "rest")
} (cinch.as = "root")
