//! Tests of the command as users start it, with one module per verb or kind of fault. All tests are one program, so
//! that furlong is linked once. `cargo test --release -p furlong --test cli kill::` runs a part of it.
#![forbid(unsafe_code)]

mod common;

mod access;
mod adapter_names;
mod adapter_templates;
mod adapters;
mod axes;
mod boundary;
mod charts;
mod ci;
mod compare;
mod conditions;
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
mod full_pipe;
mod hello;
mod hosts;
mod inherited;
mod interrupt;
mod ipc;
mod kill;
mod leftovers;
mod limits;
mod map;
mod named_limits;
mod observe;
#[cfg(target_os = "linux")]
mod observe_advice;
#[cfg(target_os = "linux")]
mod observe_live;
mod one_process;
mod own_programs;
mod pace;
mod patterns;
mod precision;
mod printed_pairs;
mod printed_sizes;
mod program_lines;
mod python_module;
mod queries;
mod readme;
mod recommend;
mod recommend_asking;
mod recommend_observed;
mod replaced_program;
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
mod trace;
mod tracing;
mod traffic;
mod tune;
mod unreadable;
mod usage;
mod watch;
mod window;
