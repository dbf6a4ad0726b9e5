//! The controllers that a stack ships, by the names the laboratory uses.

use std::any::Any;
use std::sync::Arc;

use cambrian_endpoint::transport_log::SharedLog;

use crate::observe::{observed, Observed};
use crate::proto::congestion::{Controller, ControllerFactory};

pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// One congestion-control algorithm; [`cca!`](crate::cca!) makes it.
#[derive(Clone, Copy)]
pub struct Cca {
    pub name: &'static str,
    /// Makes its controllers, given an initial window in bytes in place of the stack's own, and a log to which they
    /// write every event.
    pub factory: fn(Option<u64>, Option<SharedLog>) -> Factory,
    /// Is this a controller of it?
    pub is: fn(&dyn Any) -> bool,
}

/// A [`Cca`] by its name and its stack's types of controller and configuration.
#[macro_export]
macro_rules! cca {
    ($name:literal, $controller:ty, $config:ty) => {
        $crate::cca::Cca {
            name: $name,
            factory: |initial_window_bytes, log| {
                let mut config = <$config>::default();
                if let Some(bytes) = initial_window_bytes {
                    config.initial_window(bytes);
                }
                $crate::cca::logged::<$controller>(std::sync::Arc::new(config), log)
            },
            is: |controller| controller.is::<$controller>(),
        }
    };
}

/// `factory` itself, or with a log one whose controllers, of type `C`, write to it.
pub fn logged<C: Observed>(factory: Factory, log: Option<SharedLog>) -> Factory {
    match log {
        None => factory,
        Some(log) => observed::<C>(factory, log),
    }
}

/// Which of `ccas` a live connection's controller is, by its type, or `None` if it is none of them.
pub fn read_back(ccas: &[Cca], controller: &dyn Controller) -> Option<&'static str> {
    let controller = controller.clone_box().into_any();
    ccas.iter().find(|cca| (cca.is)(&*controller)).map(|cca| cca.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::congestion::{Cubic, CubicConfig, NewReno, NewRenoConfig};
    use cambrian_endpoint::clock::Anchor;
    use cambrian_endpoint::transport_log::TransportLog;
    use std::time::Instant;

    const CCAS: [Cca; 2] = [cca!("cubic", Cubic, CubicConfig), cca!("reno", NewReno, NewRenoConfig)];

    #[test]
    fn read_back_tells_every_cca_bare_and_logged() {
        for cca in CCAS {
            for log in [None, Some(TransportLog::to_writer(Box::new(std::io::sink()), Anchor::now()))] {
                let controller = (cca.factory)(None, log).build(Instant::now(), 1200);
                assert_eq!(read_back(&CCAS, &*controller), Some(cca.name));
            }
        }
    }

    #[test]
    fn initial_window_reaches_the_controller() {
        for cca in CCAS {
            let controller = (cca.factory)(Some(38_400), None).build(Instant::now(), 1200);
            assert_eq!((controller.initial_window(), controller.window()), (38_400, 38_400));
        }
    }
}
