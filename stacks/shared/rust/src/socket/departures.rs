//! Datagrams on their way out, as sendmsg(2) and sendmmsg(2) want them described.

use std::mem::zeroed;
use std::net::{Ipv4Addr, SocketAddr};

use socket2::SockAddr;

use crate::ecn::Control;
use crate::train::Outgoing;

/// Room to describe datagrams, kept for reuse.
pub struct Departures {
    headers: Box<[libc::mmsghdr]>,
    parts: Box<[Part]>,
}

/// What a header points to, beside the payload.
struct Part {
    name: SockAddr,
    control: Control,
    slice: libc::iovec,
}

impl Departures {
    /// Room for `most` datagrams.
    pub fn with_room_for(most: usize) -> Self {
        let part = || Part {
            name: SockAddr::from(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))),
            control: Control::EMPTY,
            slice: libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 },
        };
        Self {
            // SAFETY: all-zero is a valid value of this plain C structure.
            headers: (0..most).map(|_| unsafe { zeroed() }).collect(),
            parts: (0..most).map(|_| part()).collect(),
        }
    }

    /// Describe `datagrams`, as many as there is room for. The headers are good until the next call, and as long as
    /// the payloads stay where they are.
    pub fn describe(&mut self, datagrams: &[Outgoing]) -> &mut [libc::mmsghdr] {
        let parts = self.headers.iter_mut().zip(&mut self.parts);
        let mut count = 0;
        for ((header, part), datagram) in parts.zip(datagrams) {
            let (header, payload) = (&mut header.msg_hdr, &datagram.payload);
            part.name = SockAddr::from(datagram.destination);
            part.slice = libc::iovec { iov_base: payload.as_ptr().cast_mut().cast(), iov_len: payload.len() };
            header.msg_iov = &raw mut part.slice;
            header.msg_iovlen = 1;
            header.msg_name = part.name.as_ptr().cast_mut().cast();
            header.msg_namelen = part.name.len();
            part.control.attach_mark(header, datagram.ecn, datagram.destination.is_ipv4());
            count += 1;
        }
        &mut self.headers[..count]
    }
}
