//! Free text of an exact length: what sellers, buyers and restaurants write, which is how a
//! payload is brought to its published size without changing what it is.

use crate::random::Random;

/// Sentences that shops write again and again.
const SENTENCES: [&str; 24] = [
    "Please contact us before you leave feedback if anything is not right.",
    "We ship every working day until three in the afternoon.",
    "Returns are accepted within thirty days, unused and in the original box.",
    "Colours may differ a little from what your screen shows.",
    "Combined shipping is offered for several items bought together.",
    "The buyer pays for the return unless the item was not as described.",
    "Every parcel is insured and has a tracking number.",
    "Large orders may take one more day to prepare.",
    "We answer messages within a few hours, also at the weekend.",
    "Import duties and taxes are not included in the price.",
    "Photographs show the very item that you will receive.",
    "Payment is expected within four days of the purchase.",
    "Thank you for supporting a small family business.",
    "Tested by our workshop and sold with a one year warranty.",
    "Batteries are not included unless the title says so.",
    "Please check the measurements, as sizes run rather small.",
    "Carefully packed in recycled paper and strong cardboard.",
    "Ask for more pictures if something is unclear.",
    "Delivery to islands and remote areas takes longer.",
    "Gift wrapping is possible, just leave a note at checkout.",
    "A small surcharge applies to bulky goods.",
    "Old packaging is taken back free of charge.",
    "Prices were last checked this morning.",
    "Stock is limited and not reserved while it is in a cart.",
];

/// Appends sentences up to exactly `length` bytes, the last one cut short if it must be.
pub(super) fn write(output: &mut String, length: usize, random: &mut Random) {
    let end = output.len() + length;
    while output.len() < end {
        output.push_str(random.pick(&SENTENCES));
        output.push(' ');
    }
    output.truncate(end);
    // A text does not end with a space, and a sentence that is cut has no full stop.
    if length > 0 {
        output.pop();
        output.push('.');
    }
}
