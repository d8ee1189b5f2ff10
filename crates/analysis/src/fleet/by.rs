//! Properties by which runs of many hosts are grouped.

use furlong_model::named_enum;

named_enum! {
    /// Property by which runs are grouped.
    FleetBy {
        /// Host, to find outliers.
        Host = "host",
        /// Release of the kernel, to find the effect of an update.
        Kernel = "kernel",
        /// Label that the user gave.
        Label = "label",
        /// Label, for runs that were measured alternately (A B A B).
        Pairs = "pairs",
    }
}
