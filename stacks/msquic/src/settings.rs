//! The knobs of msquic that `--set KEY=VALUE` reaches.

use cambrian_endpoint::settings::{number, switch, unknown, Pairs};
use cambrian_endpoint::{Error, Result};
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
    /// `initial_window_packets`: initial congestion window in packets (msquic: 10).
    pub initial_window_packets: Option<u32>,
    /// `mtu`: UDP payload in bytes before path-MTU discovery has probed (msquic: 1220).
    pub initial_mtu_bytes: Option<u16>,
    /// `pacing`: whether sending is paced (msquic: on).
    pub pacing: Option<bool>,
}

const KEYS: [&str; 3] = ["initial_window_packets", "mtu", "pacing"];

/// Largest UDP payload of an IPv4 packet of 1500 bytes.
const MAX_MTU_BYTES: u16 = 1472;

/// msquic's MTU counts the headers of IPv4 and UDP.
const IP_UDP_HEADER_BYTES: u16 = 28;

impl Settings {
    /// The knobs of one command line. An unknown key or a bad value is a usage error; a switch that has no
    /// effect is unsupported.
    pub fn parse(pairs: &Pairs) -> Result<Self> {
        let mut settings = Self::default();
        for (key, value) in pairs {
            match key.as_str() {
                "initial_window_packets" => {
                    settings.initial_window_packets = Some(number(key, value, 2, 100_000)?);
                }
                "mtu" => settings.initial_mtu_bytes = Some(number(key, value, 1220, MAX_MTU_BYTES)?),
                "pacing" => settings.pacing = Some(switch(key, value)?),
                "hystart" => {
                    // QuicSettingApply leaves HyStartEnabled out, so no program can switch it on.
                    let text = "msquic 2.5.1-beta has no way to switch HyStart++ on; it is off";
                    return Err(Error::Unsupported(text.into()));
                }
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
        if let Some(bytes) = self.initial_mtu_bytes {
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

    fn parse(assignments: &[&str]) -> Result<Settings> {
        Settings::parse(&assignments.iter().map(|text| pair(text)).collect::<Result<_>>()?)
    }

    #[test]
    fn every_key_reaches_msquic() {
        let settings = parse(&["initial_window_packets=32", "mtu=1472", "pacing=off"]).unwrap();
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
        for bad in ["mtu=1500", "mtu=x", "initial_window_packets=0", "cwnd=1", "pacing=maybe"] {
            assert!(matches!(parse(&[bad]), Err(Error::Usage(_))), "{bad}");
        }
    }

    #[test]
    fn hystart_is_unsupported() {
        assert!(matches!(parse(&["hystart=on"]), Err(Error::Unsupported(_))));
    }
}
