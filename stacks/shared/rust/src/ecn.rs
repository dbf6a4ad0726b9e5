//! ECN marks as control messages of datagrams.

/// The ECN field of an IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    #[default]
    NotEct = 0,
    Ect1 = 1,
    Ect0 = 2,
    Ce = 3,
}

impl Ecn {
    /// The field in the low two bits of `bits`.
    pub fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    pub fn bits(self) -> u8 {
        self as u8
    }
}

/// Room for the control messages of one datagram, aligned as `cmsghdr` wants.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct Control([u8; Self::BYTES]);

impl Control {
    /// Two integers with their headers: a dual-stack socket may report both IP_TOS and IPV6_TCLASS.
    pub const BYTES: usize = 48;

    pub const EMPTY: Self = Self([0; Self::BYTES]);

    /// Let `header` receive control messages here.
    pub fn attach(&mut self, header: &mut libc::msghdr) {
        header.msg_control = self.0.as_mut_ptr().cast();
        header.msg_controllen = Self::BYTES;
    }

    /// Make `header` send `mark` by a control message kept here.
    pub fn attach_mark(&mut self, header: &mut libc::msghdr, mark: Ecn, is_ipv4: bool) {
        self.attach(header);
        let bits = libc::c_int::from(mark.bits());
        let size = std::mem::size_of_val(&bits) as libc::c_uint;
        // SAFETY: `attach` has pointed `header` at this buffer, which is aligned and holds more than one integer.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(size) as usize;
            let message = libc::CMSG_FIRSTHDR(header);
            ((*message).cmsg_level, (*message).cmsg_type) = if is_ipv4 {
                (libc::IPPROTO_IP, libc::IP_TOS)
            } else {
                (libc::IPPROTO_IPV6, libc::IPV6_TCLASS)
            };
            (*message).cmsg_len = libc::CMSG_LEN(size) as usize;
            libc::CMSG_DATA(message).cast::<libc::c_int>().write_unaligned(bits);
        }
    }
}

/// The mark of a received datagram.
///
/// # Safety
/// The kernel must have filled in `header`, and its control buffer must still be alive.
pub unsafe fn received_mark(header: &libc::msghdr) -> Ecn {
    // SAFETY: by the caller's promise the control messages are well formed and readable.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while let Some(current) = message.as_ref() {
            let data = libc::CMSG_DATA(message);
            match (current.cmsg_level, current.cmsg_type) {
                // The kernel reports the IPv4 field as one byte and the IPv6 field as an integer.
                (libc::IPPROTO_IP, libc::IP_TOS) => return Ecn::from_bits(*data),
                (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                    return Ecn::from_bits(data.cast::<libc::c_int>().read_unaligned() as u8);
                }
                _ => message = libc::CMSG_NXTHDR(header, message),
            }
        }
    }
    Ecn::NotEct
}
