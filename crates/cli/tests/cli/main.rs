//! The command as its users start it, one module a verb or a kind of fault. All is one program, so that furlong is
//! linked once; `cargo test --release -p furlong --test cli kill::` runs a part of it.
#![forbid(unsafe_code)]

mod common;

mod access;
mod adapter_names;
mod adapter_templates;
mod adapters;
mod boundary;
mod charts;
mod ci;
mod compare;
mod consistency;
mod costs;
mod count;
mod doctor;
mod driver;
mod explain;
mod export;
mod files;
mod fleet;
mod formats;
mod hosts;
mod inherited;
mod interrupt;
mod kill;
mod leftovers;
mod limits;
mod one_process;
mod own_programs;
mod pace;
mod patterns;
mod precision;
mod python_module;
mod queries;
mod readme;
mod recommend;
mod recommend_asking;
mod replay;
mod replay_ends;
mod replay_handover;
mod replay_published;
mod replay_usage;
mod report;
mod runs;
mod saving;
mod schema_1;
mod self_check;
mod serve;
mod standings;
mod tracing;
mod unreadable;
mod usage;
mod watch;
mod window;
