//! Access to values in printed JSON.

use serde_json::Value;

/// Returns the value at `path`, for example `round_trip_ns.p50`.
#[track_caller]
pub fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(value, |value, name| {
        value.get(name).unwrap_or_else(|| panic!("no {name} (of {path}) in {value:#}"))
    })
}

/// Returns the number at `path`.
#[track_caller]
pub fn number(value: &Value, path: &str) -> f64 {
    at(value, path).as_f64().unwrap_or_else(|| panic!("{path} is no number in {value:#}"))
}

/// Returns the list at `path`.
#[track_caller]
pub fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).as_array().unwrap_or_else(|| panic!("{path} is no list in {value:#}"))
}

/// Returns the entry of the list at `path` for the row `name`, for example `pipe/block`.
#[track_caller]
pub fn row<'a>(value: &'a Value, path: &str, name: &str) -> &'a Value {
    let is_it = |row: &&Value| format!("{}/{}", text(row, "mechanism"), text(row, "wait")) == name;
    list(value, path).iter().find(is_it).unwrap_or_else(|| panic!("no {name} among the {path} of {value:#}"))
}

/// Returns the text at `path`.
#[track_caller]
pub fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).as_str().unwrap_or_else(|| panic!("{path} is no text in {value:#}"))
}
