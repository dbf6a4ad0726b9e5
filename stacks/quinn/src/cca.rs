//! The congestion controllers that quinn ships, by the names the laboratory uses.

use std::sync::Arc;

use quinn_proto::congestion::{
    Bbr, BbrConfig, Controller, ControllerFactory, Cubic, CubicConfig, NewReno, NewRenoConfig,
};

use crate::controller::LoggedFactory;
use crate::error::{Error, Result};
use crate::transport_log::SharedLog;

/// A congestion-control algorithm of quinn's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cca {
    Cubic,
    Reno,
    Bbr,
}

impl Cca {
    pub const ALL: [Self; 3] = [Self::Cubic, Self::Reno, Self::Bbr];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Reno => "reno",
            Self::Bbr => "bbr",
        }
    }

    /// The CCA called `name`; "unsupported" (status 127) names those there are.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|cca| cca.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::Unsupported(format!("quinn has no CCA {name:?}; it has: {names}"))
        })
    }

    /// Which CCA a live connection's controller is, by its type, or `None` for one that quinn does not ship.
    pub fn read_back(controller: &dyn Controller) -> Option<Self> {
        let any = controller.clone_box().into_any();
        if any.is::<Cubic>() {
            Some(Self::Cubic)
        } else if any.is::<NewReno>() {
            Some(Self::Reno)
        } else if any.is::<Bbr>() {
            Some(Self::Bbr)
        } else {
            None
        }
    }

    /// A factory for this CCA. `initial_window_bytes` replaces quinn's own (12,000 bytes for cubic and reno,
    /// 240,000 for bbr); with a `log`, every controller event is written to it.
    pub fn factory(
        self,
        initial_window_bytes: Option<u64>,
        log: Option<SharedLog>,
    ) -> Arc<dyn ControllerFactory + Send + Sync> {
        macro_rules! factory {
            ($config:ty, $build:expr) => {{
                let mut config = <$config>::default();
                if let Some(bytes) = initial_window_bytes {
                    config.initial_window(bytes);
                }
                match log {
                    None => Arc::new(config),
                    Some(log) => Arc::new(LoggedFactory::new(Arc::new(config), $build, log)),
                }
            }};
        }
        match self {
            Self::Cubic => factory!(CubicConfig, Cubic::new),
            Self::Reno => factory!(NewRenoConfig, NewReno::new),
            Self::Bbr => factory!(BbrConfig, |config, _now, mtu| Bbr::new(config, mtu)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Anchor;
    use crate::transport_log::TransportLog;
    use std::time::Instant;

    #[test]
    fn unknown_name_is_unsupported_and_lists_the_known_ones() {
        match Cca::from_name("vegas") {
            Err(Error::Unsupported(text)) => assert!(text.contains("cubic, reno, bbr"), "{text}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn read_back_tells_every_cca_bare_and_logged() {
        for cca in Cca::ALL {
            for log in [None, Some(TransportLog::to_writer(Box::new(std::io::sink()), Anchor::now()))] {
                let controller = cca.factory(None, log).build(Instant::now(), 1200);
                assert_eq!(Cca::read_back(&*controller), Some(cca));
            }
        }
    }

    #[test]
    fn initial_window_reaches_the_controller() {
        for cca in Cca::ALL {
            let controller = cca.factory(Some(38_400), None).build(Instant::now(), 1200);
            assert_eq!((controller.initial_window(), controller.window()), (38_400, 38_400));
        }
    }
}
