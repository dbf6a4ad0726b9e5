//! Response bodies: blocks that msquic sends from where they lie, with enough of them posted at any time.

use cambrian_endpoint::hq;
use msquic::{BufferRef, SendFlags, Status, StreamRef};

/// Blocks in one send.
const SEND_BLOCKS: usize = 16;

/// Bytes of a whole send: 1 MiB.
const SEND_BYTES: u64 = (SEND_BLOCKS * hq::BLOCK.len()) as u64;

/// Sends that wait for their acknowledgement, 64 MiB of them: more than any congestion window.
const POSTED_SENDS: usize = 64;

/// The body of one response. msquic holds pointers into it until the last send has completed.
pub struct Body {
    /// Bytes that have not been posted yet.
    left: u64,
    posted_sends: usize,
    ended: bool,
    /// Views of a whole send.
    whole: Vec<BufferRef>,
    /// Views of the last send.
    last: Vec<BufferRef>,
}

impl Body {
    /// `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        // The last send is the one that ends the stream, so it has at least a byte unless the body has none.
        let last_bytes = bytes - bytes.saturating_sub(1) / SEND_BYTES * SEND_BYTES;
        Self { left: bytes, posted_sends: 0, ended: false, whole: views(SEND_BYTES), last: views(last_bytes) }
    }

    /// Post what may be posted on `stream`.
    pub fn post(&mut self, stream: &StreamRef) -> Result<(), Status> {
        while !self.ended && self.posted_sends < POSTED_SENDS {
            let (views, flags) = if self.left > SEND_BYTES {
                self.left -= SEND_BYTES;
                (&self.whole, SendFlags::NONE)
            } else {
                self.left = 0;
                self.ended = true;
                (&self.last, SendFlags::FIN)
            };
            self.posted_sends += 1;
            // SAFETY: the views are not changed any more, and what they show is static.
            unsafe { stream.send(views, flags, std::ptr::null())? };
        }
        Ok(())
    }

    /// One send has been acknowledged to its end (or given up).
    pub fn completed(&mut self) {
        self.posted_sends -= 1;
    }
}

/// Views of the static block that show `bytes` bytes together.
fn views(bytes: u64) -> Vec<BufferRef> {
    let block = hq::BLOCK.len() as u64;
    let lengths = (0..bytes.div_ceil(block)).map(|index| block.min(bytes - index * block) as usize);
    lengths.map(|length| BufferRef::from(&hq::BLOCK[..length])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(views: &[BufferRef]) -> u64 {
        views.iter().map(|view| view.as_bytes().len() as u64).sum()
    }

    #[test]
    fn views_show_every_byte() {
        for bytes in [0, 1, 65_535, 65_536, 65_537, SEND_BYTES] {
            assert_eq!(shown(&views(bytes)), bytes);
        }
    }

    #[test]
    fn the_last_send_is_what_whole_ones_leave() {
        for (bytes, last) in [
            (0, 0),
            (1, 1),
            (SEND_BYTES, SEND_BYTES),
            (SEND_BYTES + 1, 1),
            (3 * SEND_BYTES, SEND_BYTES),
            (3 * SEND_BYTES + 17, 17),
        ] {
            assert_eq!(shown(&Body::new(bytes).last), last, "{bytes}");
        }
    }
}
