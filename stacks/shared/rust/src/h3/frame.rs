//! Frames (RFC 9114 section 7) and variable-length integers (RFC 9000 section 16).

pub const DATA: u64 = 0x0;
pub const HEADERS: u64 = 0x1;
pub const SETTINGS: u64 = 0x4;

/// Longest field section that is read.
const MAX_SECTION_BYTES: u64 = 64 * 1024;

/// Append a variable-length integer.
///
/// # Panics
/// If `value` does not fit 62 bits.
pub fn put_varint(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0x3f => out.push(value as u8),
        0x40..=0x3fff => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..=0x3fff_ffff => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => {
            assert!(value < 1 << 62, "{value} does not fit a variable-length integer");
            out.extend_from_slice(&(value | 0xc000_0000_0000_0000).to_be_bytes());
        }
    }
}

/// Take a variable-length integer off the front of `data`, if all of it is there.
fn take_varint(data: &mut &[u8]) -> Option<u64> {
    let first = *data.first()?;
    let (bytes, rest) = data.split_at_checked(1 << (first >> 6))?;
    *data = rest;
    Some(bytes[1..].iter().fold(u64::from(first & 0x3f), |value, &byte| value << 8 | u64::from(byte)))
}

/// What a frame brings.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A whole encoded field section.
    Headers(&'a [u8]),
    /// That many body bytes.
    Data(u64),
    /// A field section longer than is read; it is passed over.
    TooLong,
}

/// Takes a stream apart into frames; those of other types, reserved ones among them, are passed over.
#[derive(Debug, Default)]
pub struct FrameReader {
    /// The frame that is being read, and its bytes to come; `None` before its head is whole.
    frame: Option<(Kind, u64)>,
    /// The head of the next frame, or a field section, as far as it has come.
    partial: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Section,
    Body,
    Other,
}

impl FrameReader {
    /// More of the stream has arrived; `take` gets what it brings.
    pub fn push(&mut self, mut data: &[u8], mut take: impl FnMut(Frame<'_>)) {
        while let Some(&next) = data.first() {
            let Some((kind, left)) = self.frame else {
                self.partial.push(next);
                data = &data[1..];
                self.begin(&mut take);
                continue;
            };
            let (part, rest) =
                data.split_at(usize::try_from(left).map_or(data.len(), |left| left.min(data.len())));
            data = rest;
            match kind {
                Kind::Section => self.partial.extend_from_slice(part),
                Kind::Body => take(Frame::Data(part.len() as u64)),
                Kind::Other => {}
            }
            self.expect(kind, left - part.len() as u64, &mut take);
        }
    }

    /// Begin a frame, if its head is whole.
    fn begin(&mut self, take: &mut impl FnMut(Frame<'_>)) {
        let mut head = &self.partial[..];
        let (Some(kind), Some(length)) = (take_varint(&mut head), take_varint(&mut head)) else { return };
        self.partial.clear();
        let kind = match kind {
            DATA => Kind::Body,
            HEADERS if length <= MAX_SECTION_BYTES => Kind::Section,
            HEADERS => {
                take(Frame::TooLong);
                Kind::Other
            }
            _ => Kind::Other,
        };
        self.expect(kind, length, take);
    }

    /// The frame has `left` bytes to come; with none, it has ended.
    fn expect(&mut self, kind: Kind, left: u64, take: &mut impl FnMut(Frame<'_>)) {
        self.frame = (left > 0).then_some((kind, left));
        if left == 0 {
            if matches!(kind, Kind::Section) {
                take(Frame::Headers(&self.partial));
            }
            self.partial.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_read_back_at_every_length() {
        // The examples of RFC 9000 appendix A.1.
        for (value, bytes) in [
            (37, &[0x25][..]),
            (15_293, &[0x7b, 0xbd]),
            (494_878_333, &[0x9d, 0x7f, 0x3e, 0x7d]),
            (151_288_809_941_952_652, &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]),
        ] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out, bytes);
            assert_eq!(take_varint(&mut &out[..]), Some(value));
            assert_eq!(take_varint(&mut &out[..out.len() - 1]), None);
        }
    }

    #[test]
    fn frames_of_other_types_are_passed_over() {
        let mut seen = Vec::new();
        // A reserved frame of 3 bytes, an empty one, HEADERS of 2 bytes, DATA of 4 bytes.
        let bytes = [0x21, 3, 1, 2, 3, 0x40, 0x40, 0, 0x01, 2, 8, 9, 0x00, 4, 0, 0, 0, 0];
        FrameReader::default().push(&bytes, |frame| {
            seen.push(match frame {
                Frame::Headers(section) => format!("headers {section:?}"),
                other => format!("{other:?}"),
            });
        });
        assert_eq!(seen, ["headers [8, 9]", "Data(4)"]);
    }

    #[test]
    fn a_section_that_is_too_long_is_not_kept() {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, HEADERS);
        put_varint(&mut bytes, MAX_SECTION_BYTES + 1);
        let mut seen = 0;
        FrameReader::default().push(&bytes, |frame| seen += u32::from(frame == Frame::TooLong));
        assert_eq!(seen, 1);
    }
}
