//! The knobs of msquic that `--set KEY=VALUE` reaches.

use cambrian_endpoint::settings::{boolean, number, unknown, Pairs};
use cambrian_endpoint::Result;
use msquic::ffi::QUIC_SETTINGS;

/// Set a number of a `QUIC_SETTINGS` and mark it as set.
macro_rules! set_field {
    ($settings:expr, $field:ident, $mark:ident, $value:expr) => {{
        $settings.$field = $value;
        // SAFETY: all bits of this union are a valid value of either of its forms.
        unsafe { $settings.__bindgen_anon_1.IsSet.$mark(1) };
    }};
}

/// Set a switch of a `QUIC_SETTINGS` and mark it as set.
macro_rules! set_switch {
    ($settings:expr, $switch:ident, $on:expr) => {{
        $settings.$switch($on.into());
        // SAFETY: all bits of this union are a valid value of either of its forms.
        unsafe { $settings.__bindgen_anon_1.IsSet.$switch(1) };
    }};
}

/// The same for the switches that msquic added later.
macro_rules! set_late_switch {
    ($settings:expr, $switch:ident, $on:expr) => {{
        // SAFETY: all bits of both unions are a valid value of either of their forms.
        unsafe {
            $settings.__bindgen_anon_2.__bindgen_anon_1.$switch($on.into());
            $settings.__bindgen_anon_1.IsSet.$switch(1);
        }
    }};
}

pub(crate) use {set_field, set_late_switch, set_switch};

/// The knobs that were set; `None` leaves msquic's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Initial congestion window, in packets of the initial UDP payload (msquic: 10).
    pub initial_window_packets: Option<u32>,
    /// UDP payload in bytes before path-MTU discovery has probed (msquic: 1220).
    pub initial_udp_payload_bytes: Option<u16>,
    /// Whether sending is paced (msquic: yes).
    pub pacing: Option<bool>,
}

const KEYS: [&str; 3] = ["initial_window_packets", "initial_udp_payload_bytes", "pacing"];

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_UDP_PAYLOAD_BYTES: u16 = 1472;

/// msquic's MTU counts the headers of IPv4 and UDP.
const IP_UDP_HEADER_BYTES: u16 = 28;

impl Settings {
    /// The knobs of one command line. An unknown key or a bad value is a usage error.
    pub fn parse(pairs: &Pairs) -> Result<Self> {
        let mut settings = Self::default();
        for (key, value) in pairs {
            match key.as_str() {
                "initial_window_packets" => {
                    settings.initial_window_packets = Some(number(key, value, 2, 100_000)?);
                }
                "initial_udp_payload_bytes" => {
                    settings.initial_udp_payload_bytes =
                        Some(number(key, value, 1220, MAX_UDP_PAYLOAD_BYTES)?);
                }
                "pacing" => settings.pacing = Some(boolean(key, value)?),
                _ => return Err(unknown(key, &KEYS)),
            }
        }
        Ok(settings)
    }

    /// Enter them into msquic's own form.
    pub fn apply(&self, to: &mut QUIC_SETTINGS) {
        if let Some(packets) = self.initial_window_packets {
            set_field!(to, InitialWindowPackets, set_InitialWindowPackets, packets);
        }
        if let Some(bytes) = self.initial_udp_payload_bytes {
            set_field!(to, MinimumMtu, set_MinimumMtu, bytes + IP_UDP_HEADER_BYTES);
        }
        if let Some(on) = self.pacing {
            set_switch!(to, set_PacingEnabled, on);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cambrian_endpoint::settings::pair;
    use cambrian_endpoint::Error;

    fn parse(assignments: &[&str]) -> Result<Settings> {
        Settings::parse(&assignments.iter().map(|text| pair(text)).collect::<Result<_>>()?)
    }

    #[test]
    fn every_key_reaches_msquic() {
        let settings =
            parse(&["initial_window_packets=32", "initial_udp_payload_bytes=1472", "pacing=false"]).unwrap();
        // SAFETY: a plain C structure, for which zero means that nothing is set.
        let mut form: QUIC_SETTINGS = unsafe { std::mem::zeroed() };
        form.set_PacingEnabled(1);
        settings.apply(&mut form);
        assert_eq!((form.InitialWindowPackets, form.MinimumMtu, form.PacingEnabled()), (32, 1500, 0));
        // SAFETY: as above.
        let set = unsafe { form.__bindgen_anon_1.IsSet };
        assert_eq!([set.InitialWindowPackets(), set.MinimumMtu(), set.PacingEnabled()], [1; 3]);
    }

    #[test]
    fn bad_assignments_are_usage_errors() {
        for bad in [
            "initial_udp_payload_bytes=1500",
            "initial_udp_payload_bytes=x",
            "initial_window_packets=0",
            "cwnd=1",
            "pacing=maybe",
        ] {
            assert!(matches!(parse(&[bad]), Err(Error::Usage(_))), "{bad}");
        }
    }
}
