//! The verbs, each in one file: from parsed options to printed output.

pub mod adapter;
mod atlas;
pub mod compare;
pub mod compare_many;
pub mod costs;
pub mod count;
pub mod doctor;
pub mod explain;
pub mod export;
mod find_rate;
pub mod fleet;
pub mod list;
pub mod manual;
pub mod map;
pub mod observe;
pub mod recommend;
pub mod replay;
pub mod report;
pub mod run;
pub mod runs;
pub mod serve;
pub mod trace;
pub mod tune;
