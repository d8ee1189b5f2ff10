//! Compares the stamps of ../../rust/protocol.rs with those of ../../stamps.json, which furlong's own code made:
//! `cargo test`.

use crate::protocol::Stamp;
use serde_json::Value;
use std::fs;

#[test]
fn stamps_are_those_that_furlong_makes() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../stamps.json");
    let vectors: Vec<Value> = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert!(!vectors.is_empty());
    for vector in vectors {
        let stamp = Stamp(u64::from_str_radix(vector["stamp"].as_str().unwrap(), 16).unwrap());
        let number = vector["number"].as_u64().unwrap() as u32;
        let mut message = vec![0; vector["length"].as_u64().unwrap() as usize];
        stamp.write_all(&mut message, number);
        let bytes: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(vector["bytes"], bytes, "{vector}");
        assert!(stamp.holds(&message, number), "{vector}");
        message[0] ^= 1;
        assert!(!stamp.holds(&message, number), "{vector}");
    }
}
