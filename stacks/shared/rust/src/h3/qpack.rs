//! QPACK (RFC 9204) with the static table only, and of a field section only what this endpoint uses: the method, path
//! and status.

use httlib_huffman::DecoderSpeed;

/// A field section, or a whole message, that cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The pseudo-header fields that matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fields {
    pub method: Option<String>,
    pub path: Option<String>,
    pub status: Option<u16>,
}

impl Fields {
    fn set(&mut self, name: &str, value: &str) {
        match name {
            ":method" => self.method = Some(value.to_owned()),
            ":path" => self.path = Some(value.to_owned()),
            ":status" => self.status = value.parse().ok(),
            _ => {}
        }
    }
}

/// Name and value of a static table entry (RFC 9204 appendix A), empty for those that do not matter here.
fn static_entry(index: u64) -> (&'static str, &'static str) {
    let method = |value| (":method", value);
    let status = |value| (":status", value);
    match index {
        1 => (":path", "/"),
        15 => method("CONNECT"),
        16 => method("DELETE"),
        17 => method("GET"),
        18 => method("HEAD"),
        19 => method("OPTIONS"),
        20 => method("POST"),
        21 => method("PUT"),
        24 => status("103"),
        25 => status("200"),
        26 => status("304"),
        27 => status("404"),
        28 => status("503"),
        63 => status("100"),
        64 => status("204"),
        65 => status("206"),
        66 => status("302"),
        67 => status("400"),
        68 => status("403"),
        69 => status("421"),
        70 => status("425"),
        71 => status("500"),
        _ => ("", ""),
    }
}

/// Decode a field section.
pub fn decode(mut section: &[u8]) -> Result<Fields, Malformed> {
    let data = &mut section;
    let required_insert_count = take_integer(data, 8)?;
    let _base = take_integer(data, 7)?;
    // No dynamic table was allowed.
    if required_insert_count != 0 {
        return Err(Malformed);
    }
    let mut fields = Fields::default();
    while let Some(&first) = data.first() {
        if first & 0xc0 == 0xc0 {
            let (name, value) = static_entry(take_integer(data, 6)?);
            fields.set(name, value);
        } else if first & 0xd0 == 0x50 {
            let (name, _) = static_entry(take_integer(data, 4)?);
            fields.set(name, &take_string(data, 7)?);
        } else if first & 0xe0 == 0x20 {
            let name = take_string(data, 3)?;
            fields.set(&name, &take_string(data, 7)?);
        } else {
            // A reference to the dynamic table.
            return Err(Malformed);
        }
    }
    Ok(fields)
}

/// The field section of a GET request.
pub fn encode_request(authority: &str, path: &str) -> Vec<u8> {
    const GET: u64 = 17;
    const HTTPS: u64 = 23;
    let mut section = vec![0, 0];
    put_integer(&mut section, 0xc0, 6, GET);
    put_integer(&mut section, 0xc0, 6, HTTPS);
    put_field(&mut section, 0, authority);
    put_field(&mut section, 1, path);
    section
}

/// The field section of a response.
pub fn encode_response(status: u16, content_type: &str, body_bytes: u64) -> Vec<u8> {
    const STATUS: u64 = 24;
    const CONTENT_LENGTH: u64 = 4;
    const CONTENT_TYPE: u64 = 44;
    let mut section = vec![0, 0];
    put_field(&mut section, STATUS, &status.to_string());
    put_field(&mut section, CONTENT_LENGTH, &body_bytes.to_string());
    put_field(&mut section, CONTENT_TYPE, content_type);
    section
}

/// A literal field line with the name of a static entry, not Huffman-coded.
fn put_field(out: &mut Vec<u8>, name_index: u64, value: &str) {
    put_integer(out, 0x50, 4, name_index);
    put_integer(out, 0, 7, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
}

/// A prefixed integer (RFC 9204 section 4.1.1): `pattern` fills the bits above the prefix.
fn put_integer(out: &mut Vec<u8>, pattern: u8, prefix_bits: u8, value: u64) {
    let limit = (1 << prefix_bits) - 1;
    if value < limit {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | limit as u8);
    let mut rest = value - limit;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn take_integer(data: &mut &[u8], prefix_bits: u8) -> Result<u64, Malformed> {
    let limit = (1_u64 << prefix_bits) - 1;
    let mut value = u64::from(take_byte(data)?) & limit;
    if value < limit {
        return Ok(value);
    }
    for shift in (0..56).step_by(7) {
        let byte = take_byte(data)?;
        value += u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Malformed)
}

/// A string literal whose length has a prefix of `prefix_bits`, with the Huffman flag in the bit above.
fn take_string(data: &mut &[u8], prefix_bits: u8) -> Result<String, Malformed> {
    let is_huffman = data.first().ok_or(Malformed)? & (1 << prefix_bits) != 0;
    let length = usize::try_from(take_integer(data, prefix_bits)?).map_err(|_| Malformed)?;
    let (bytes, rest) = data.split_at_checked(length).ok_or(Malformed)?;
    *data = rest;
    let bytes = if is_huffman {
        let mut decoded = Vec::new();
        httlib_huffman::decode(bytes, &mut decoded, DecoderSpeed::FourBits).map_err(|_| Malformed)?;
        decoded
    } else {
        bytes.to_vec()
    };
    String::from_utf8(bytes).map_err(|_| Malformed)
}

fn take_byte(data: &mut &[u8]) -> Result<u8, Malformed> {
    let (&byte, rest) = data.split_first().ok_or(Malformed)?;
    *data = rest;
    Ok(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_read_back() {
        // The examples of RFC 7541 appendix C.1, whose integers QPACK uses.
        let mut out = Vec::new();
        put_integer(&mut out, 0, 5, 1337);
        assert_eq!(out, [0x1f, 0x9a, 0x0a]);
        for (value, bits) in [(10, 5), (31, 5), (1337, 5), (42, 8), (u64::from(u32::MAX), 3)] {
            let mut out = Vec::new();
            put_integer(&mut out, 0, bits, value);
            assert_eq!(take_integer(&mut &out[..], bits), Ok(value));
        }
        assert_eq!(take_integer(&mut &[0x1f, 0x9a][..], 5), Err(Malformed));
        assert_eq!(take_integer(&mut &[0xff; 20][..], 5), Err(Malformed));
    }

    #[test]
    fn sections_read_back() {
        let request = decode(&encode_request("cambrian.test:4433", "/a/b.jpg")).unwrap();
        assert_eq!((request.method.as_deref(), request.path.as_deref()), (Some("GET"), Some("/a/b.jpg")));
        assert_eq!(decode(&encode_response(405, "image/jpeg", 0)).unwrap().status, Some(405));
    }

    #[test]
    fn static_references_and_huffman_strings_are_understood() {
        // :method GET and :path / by index; :path again as a literal, Huffman-coded "www.example.com" of RFC 7541 C.4.1.
        let huffman = [0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];
        let section = [&[0, 0, 0xc0 | 17, 0xc1, 0x51, 0x80 | 12][..], &huffman].concat();
        let fields = decode(&section).unwrap();
        assert_eq!(
            (fields.method.as_deref(), fields.path.as_deref()),
            (Some("GET"), Some("www.example.com"))
        );
    }

    #[test]
    fn a_literal_name_is_understood() {
        let section = [&[0, 0, 0x27, 0][..], b":status", &[3], b"299"].concat();
        assert_eq!(decode(&section).unwrap().status, Some(299));
    }

    #[test]
    fn the_dynamic_table_and_cut_sections_are_malformed() {
        for section in [&[][..], &[1, 0], &[0, 0, 0x80], &[0, 0, 0x10], &[0, 0, 0x51], &[0, 0, 0x51, 5, b'/']]
        {
            assert_eq!(decode(section), Err(Malformed), "{section:?}");
        }
    }
}
