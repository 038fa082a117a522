//! Memory that a context keeps between calls, for libraries that cannot reset a state and so
//! allocate all of it anew for each payload (brotli, bzip2).
//!
//! Freed blocks wait in one list per power of two and serve the next call, so that a context stops
//! allocating once it has seen its largest payload. A pool belongs to one context and counts every
//! byte it holds. It refuses single blocks above a limit that the decoders set from the size of
//! their output: a length in hostile input must never become an allocation.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

/// What the library's structures may need, and the room for a block's class before it.
const ALIGNMENT: usize = 16;

/// The smallest block is 2^6 bytes.
const CLASS_MIN: u32 = 6;

/// The largest block is 2^31 bytes.
const CLASSES: usize = 32;

/// The memory of one context.
pub(super) struct Pool {
    free: [Vec<NonNull<u8>>; CLASSES],
    held_bytes: usize,
    block_bytes_max: usize,
}

// SAFETY: the blocks are plain memory that only the pool's owner reaches, through `&mut` or
// through a library call that has the owner borrowed.
unsafe impl Send for Pool {}

impl Pool {
    /// An empty pool, boxed because libraries keep its address.
    pub(super) fn new() -> Box<Pool> {
        let free = [const { Vec::new() }; CLASSES];
        Box::new(Pool { free, held_bytes: 0, block_bytes_max: 1 << 31 })
    }

    /// The bytes it holds, in use or waiting.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Refuses single blocks above this many bytes from now on.
    pub(super) fn set_block_bytes_max(&mut self, limit: usize) {
        self.block_bytes_max = limit;
    }

    /// The layout of a class's blocks, if the machine's addresses reach that far.
    fn layout(class: u32) -> Option<Layout> {
        let size = 1_usize.checked_shl(class)?.checked_add(ALIGNMENT)?;
        Layout::from_size_align(size, ALIGNMENT).ok()
    }

    fn allocate(&mut self, size: usize) -> *mut c_void {
        if size > self.block_bytes_max.min(1 << 31) {
            return ptr::null_mut();
        }
        let class = size.next_power_of_two().trailing_zeros().max(CLASS_MIN);
        if let Some(block) = self.free[class as usize].pop() {
            return block.as_ptr().cast();
        }
        let Some(layout) = Pool::layout(class) else {
            return ptr::null_mut();
        };
        // SAFETY: the layout's size is not zero.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else {
            return ptr::null_mut();
        };
        self.held_bytes += layout.size();
        // SAFETY: the block begins with ALIGNMENT bytes of our own, aligned for any integer, and
        // what follows them is inside it.
        unsafe {
            start.cast::<u32>().write(class);
            start.add(ALIGNMENT).as_ptr().cast()
        }
    }

    /// # Safety
    ///
    /// `block` came from `allocate` of this pool and was not given back since.
    unsafe fn give_back(&mut self, block: NonNull<u8>) {
        // SAFETY: by this function's contract the class was written just before the block.
        let class = unsafe { block.sub(ALIGNMENT).cast::<u32>().read() };
        self.free[class as usize].push(block);
    }

    /// What a library's allocation function gets as its opaque pointer.
    pub(super) fn opaque(self: &mut Box<Pool>) -> *mut c_void {
        ptr::from_mut::<Pool>(self).cast()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for (class, blocks) in self.free.iter_mut().enumerate() {
            let Some(layout) = Pool::layout(class as u32) else {
                continue;
            };
            for block in blocks.drain(..) {
                // SAFETY: every block in a list was allocated with the layout of its class, its
                // start is ALIGNMENT bytes before, and it is freed once, here.
                unsafe { dealloc(block.sub(ALIGNMENT).as_ptr(), layout) };
            }
        }
    }
}

/// An allocation function for libraries that ask for a size.
///
/// # Safety
///
/// `opaque` came from [`Pool::opaque`] and the pool is alive and not borrowed.
pub(super) unsafe extern "C" fn allocate(opaque: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: by this function's contract.
    unsafe { (*opaque.cast::<Pool>()).allocate(size) }
}

/// An allocation function for libraries that ask for a count and a size.
///
/// # Safety
///
/// As for [`allocate`].
pub(super) unsafe extern "C" fn allocate_items(
    opaque: *mut c_void,
    count: c_int,
    size: c_int,
) -> *mut c_void {
    match (usize::try_from(count), usize::try_from(size)) {
        // Two 31-bit numbers multiply within 64 bits, and a 32-bit machine refuses the rest.
        (Ok(count), Ok(size)) => {
            // SAFETY: by this function's contract.
            unsafe { allocate(opaque, count.saturating_mul(size)) }
        }
        _ => ptr::null_mut(),
    }
}

/// The function that gives memory back.
///
/// # Safety
///
/// As for [`allocate`], and `block` is null or came from it and was not given back since.
pub(super) unsafe extern "C" fn give_back(opaque: *mut c_void, block: *mut c_void) {
    if let Some(block) = NonNull::new(block) {
        // SAFETY: by this function's contract.
        unsafe { (*opaque.cast::<Pool>()).give_back(block.cast()) };
    }
}
