// Generated carts, as one would write the schema by hand.

struct Item {
  1: optional string StockCode
  2: optional string Description
  3: optional i32 Quantity
  4: optional double UnitPrice
}

struct Cart {
  1: optional string InvoiceNo
  2: optional string InvoiceDate
  3: optional i32 CustomerID
  4: optional string Country
  5: optional list<Item> Items
}
