//! Datagrams that have come in, in buffers that an io_uring fills by itself: the kernel takes them from a ring in
//! shared memory, and gets them back there.

use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::collections::VecDeque;
use std::io;
use std::mem::zeroed;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::{BufRingEntry, RecvMsgOut};
use io_uring::Submitter;
use socket2::{SockAddr, SockAddrStorage};

use super::{Datagram, MAX_DATAGRAM_BYTES};
use crate::ecn::{received_mark, Control};

/// Buffers, which is also how many datagrams one instant can bring before the read has to be started anew.
/// A power of two.
pub const BUFFERS: usize = 128;

/// The group of buffers: a ring has only this one.
pub const GROUP: u16 = 0;

/// A buffer holds the kernel's header of 16 bytes, the source's address, control messages and payload, each at a fixed
/// place; this makes the control messages aligned as they must be.
const NAME_BYTES: usize = 32;
const PAYLOAD_START: usize = 16 + NAME_BYTES + Control::BYTES;
const BUFFER_BYTES: usize = (PAYLOAD_START + MAX_DATAGRAM_BYTES).next_multiple_of(8);

/// What the kernel reads and writes. It wants the ring of free buffers at the start of a page.
#[repr(C, align(4096))]
struct Memory {
    free: [BufRingEntry; BUFFERS],
    buffers: [[u8; BUFFER_BYTES]; BUFFERS],
}

pub struct Arrivals {
    memory: NonNull<Memory>,
    /// Says to the kernel how much of a buffer is for what.
    header: Box<libc::msghdr>,
    /// How many buffers the kernel has been given so far, modulo 2^16.
    given: u16,
    /// The buffers that have been filled, and how far.
    filled: VecDeque<(u16, usize)>,
}

impl Arrivals {
    /// Make buffers and give them to the kernel.
    pub fn register(submitter: &Submitter<'_>) -> io::Result<Self> {
        let layout = Layout::new::<Memory>();
        // SAFETY: the layout's size is not zero; all-zero is a valid value of these plain integers.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) }.cast());
        let memory = memory.unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: all-zero is a valid value of this plain C structure.
        let mut header = Box::new(unsafe { zeroed::<libc::msghdr>() });
        header.msg_namelen = NAME_BYTES as libc::socklen_t;
        header.msg_controllen = Control::BYTES;
        let mut arrivals = Self { memory, header, given: 0, filled: VecDeque::with_capacity(BUFFERS) };
        for buffer in 0..BUFFERS {
            arrivals.give(buffer as u16);
        }
        // SAFETY: the memory is of the stated size and aligned to a page, and it outlives the io_uring: see `Ring`.
        unsafe {
            let free = memory.as_ptr() as u64;
            submitter.register_buf_ring_with_flags(free, BUFFERS as u16, GROUP, 0)?;
        }
        Ok(arrivals)
    }

    /// What the kernel needs to know of the buffers to receive into them.
    pub fn header(&self) -> *const libc::msghdr {
        &raw const *self.header
    }

    /// The kernel has filled `length` bytes of a buffer.
    pub fn push(&mut self, buffer: u16, length: usize) {
        self.filled.push_back((buffer, length));
    }

    pub fn is_empty(&self) -> bool {
        self.filled.is_empty()
    }

    /// Hand the oldest datagram to `take` and its buffer back to the kernel. Returns `None` if there is none.
    pub fn take_next<T>(&mut self, take: impl FnOnce(Option<Datagram<'_>>) -> T) -> Option<T> {
        let (buffer, length) = self.filled.pop_front()?;
        let taken = take(self.datagram(buffer, length));
        self.give(buffer);
        Some(taken)
    }

    /// What is in a buffer, unless it is longer than that.
    fn datagram(&mut self, buffer: u16, length: usize) -> Option<Datagram<'_>> {
        // SAFETY: the kernel has filled this buffer and does not touch it until it gets it back.
        let bytes = unsafe {
            let buffers = (&raw mut (*self.memory.as_ptr()).buffers).cast::<u8>();
            slice::from_raw_parts_mut(buffers.add(usize::from(buffer) * BUFFER_BYTES), length)
        };
        let message = RecvMsgOut::parse(bytes, &self.header).ok()?;
        if message.is_payload_truncated() || message.is_name_data_truncated() {
            return None;
        }
        let mut storage = SockAddrStorage::zeroed();
        let (name, control) = (message.name_data(), message.control_data());
        // SAFETY: a plain integer structure gets bytes that the kernel wrote as one, not more than it has; and the
        // control messages are the kernel's, at an aligned place.
        let (source, ecn) = unsafe {
            let room = (&raw mut storage).cast::<u8>();
            std::ptr::copy_nonoverlapping(name.as_ptr(), room, name.len());
            let mut header = zeroed::<libc::msghdr>();
            header.msg_control = control.as_ptr().cast_mut().cast();
            header.msg_controllen = control.len();
            (SockAddr::new(storage, name.len() as libc::socklen_t).as_socket()?, received_mark(&header))
        };
        let end = PAYLOAD_START + message.payload_data().len();
        Some(Datagram { payload: &mut bytes[PAYLOAD_START..end], source, ecn })
    }

    /// Let the kernel fill a buffer.
    fn give(&mut self, buffer: u16) {
        let place = usize::from(self.given) % BUFFERS;
        self.given = self.given.wrapping_add(1);
        // SAFETY: `place` and `buffer` are within the arrays. The kernel reads an entry only once the ring's tail,
        // which overlays a field that is unused in the first entry, is beyond it.
        unsafe {
            let memory = self.memory.as_ptr();
            let free = (&raw mut (*memory).free).cast::<BufRingEntry>();
            let bytes = (&raw mut (*memory).buffers).cast::<u8>().add(usize::from(buffer) * BUFFER_BYTES);
            let entry = &mut *free.add(place);
            entry.set_addr(bytes as u64);
            entry.set_len(BUFFER_BYTES as u32);
            entry.set_bid(buffer);
            let tail = BufRingEntry::tail(free).cast::<AtomicU16>();
            (*tail).store(self.given, Ordering::Release);
        }
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this layout, and nothing uses it any more.
        unsafe { dealloc(self.memory.as_ptr().cast(), Layout::new::<Memory>()) };
    }
}
