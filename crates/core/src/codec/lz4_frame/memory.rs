//! The allocator that liblz4's frame contexts use: the system's, with a count of what is held,
//! because the library has no call that tells the size of a context.
//!
//! The library frees what it replaces and everything with the context, so a plain count is exact;
//! blocks are not kept for reuse as in `codec/pool.rs`, whose powers of two would double them.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// What the library's structures may need, and the room for a block's size before it.
const ALIGNMENT: usize = 16;

/// LZ4F_CustomMem.
#[repr(C)]
pub(super) struct CustomMemory {
    allocate: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    /// Left out: the library then clears what it allocated itself.
    allocate_zeroed: Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void),
    opaque: *mut c_void,
}

/// How much one context holds.
pub(super) struct Count(Box<Cell<usize>>);

impl Count {
    pub(super) fn new() -> Count {
        Count(Box::new(Cell::new(0)))
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.get()
    }

    /// What a context is made with, which must not outlive this count.
    pub(super) fn memory(&self) -> CustomMemory {
        CustomMemory {
            allocate,
            allocate_zeroed: None,
            free,
            opaque: ptr::from_ref::<Cell<usize>>(&self.0).cast_mut().cast(),
        }
    }
}

/// The layout of a block of this size, with the room before it.
fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(ALIGNMENT)?, ALIGNMENT).ok()
}

/// # Safety
///
/// `opaque` came from [`Count::memory`], and the count is alive.
unsafe extern "C" fn allocate(opaque: *mut c_void, size: usize) -> *mut c_void {
    let Some(layout) = layout(size) else {
        return ptr::null_mut();
    };
    // SAFETY: the layout's size is not zero.
    let start = unsafe { alloc(layout) };
    if start.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: by this function's contract; only shared references to the cell are ever made.
    let count = unsafe { &*opaque.cast::<Cell<usize>>() };
    count.set(count.get() + layout.size());
    // SAFETY: the block begins with ALIGNMENT bytes of our own, aligned for any integer, and what
    // follows them is inside it.
    unsafe {
        start.cast::<usize>().write(size);
        start.add(ALIGNMENT).cast()
    }
}

/// # Safety
///
/// As for [`allocate`], and `block` is null or came from it and was not freed since.
unsafe extern "C" fn free(opaque: *mut c_void, block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: by this function's contract the size was written just before the block.
    let (start, size) = unsafe {
        let start = block.cast::<u8>().sub(ALIGNMENT);
        (start, start.cast::<usize>().read())
    };
    if let Some(layout) = layout(size) {
        // SAFETY: by this function's contract; only shared references to the cell are ever made.
        let count = unsafe { &*opaque.cast::<Cell<usize>>() };
        count.set(count.get() - layout.size());
        // SAFETY: `start` was allocated with this layout and is freed once, here.
        unsafe { dealloc(start, layout) };
    }
}
