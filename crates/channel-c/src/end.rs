//! An end whose other process is trusted or not.

/// Either of both.
pub(crate) enum End<Untrusted, Trusted> {
    Untrusted(Untrusted),
    Trusted(Trusted),
}

/// Does the same with either end of a handle.
macro_rules! on {
    ($handle:expr, $end:ident => $action:expr) => {
        match &mut $handle.end {
            End::Untrusted($end) => $action,
            End::Trusted($end) => $action,
        }
    };
}

pub(crate) use on;
