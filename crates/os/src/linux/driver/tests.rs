//! The header of the kernel module, parsed as text and compared with the items of this crate, so that the two cannot diverge.

use super::{ABI, MAGIC, message, shm};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// A field: its name, offset and size in bytes.
type Field = (String, usize, usize);

/// The compared items: constants and requests by name, structures with their fields and size.
#[derive(Debug, Default, PartialEq, Eq)]
struct Contract {
    numbers: BTreeMap<String, u64>,
    structures: BTreeMap<String, (Vec<Field>, usize)>,
}

fn header() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../driver/include/uapi/linux/furlong.h");
    std::fs::read_to_string(path).unwrap()
}

/// Returns the text without its comments.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").expect("an end of the comment").1;
    }
    code + rest
}

/// Parses the header as a C compiler does: every define with a value, and every structure.
fn read(text: &str) -> Contract {
    let code = without_comments(text);
    let mut contract = Contract::default();
    for body in code.split("\nstruct ").skip(1) {
        let (name, rest) = body.split_once('{').expect("a beginning of the structure");
        let fields = rest.split_once("};").expect("an end of the structure").0;
        contract.structures.insert(name.trim().to_owned(), layout(fields));
    }
    for line in code.lines().filter_map(|line| line.strip_prefix("#define ")) {
        let Some((name, value)) = line.split_once(char::is_whitespace) else { continue };
        let value = value_of(value.trim(), &contract);
        contract.numbers.insert(name.to_owned(), value);
    }
    contract
}

/// Lays fields out one after the other, each at a multiple of its type's size, as C does on every 64-bit machine.
fn layout(fields: &str) -> (Vec<Field>, usize) {
    let (mut at, mut widest, mut found) = (0usize, 1, Vec::new());
    for field in fields.split(';').map(str::trim).filter(|field| !field.is_empty()) {
        let (kind, name) = field.split_once(char::is_whitespace).expect("a type and a name");
        let size = size_of_type(kind);
        let (name, count) = match name.split_once('[') {
            Some((name, count)) => (name, count.trim_end_matches(']').parse().expect("a number")),
            None => (name, 1),
        };
        at = at.next_multiple_of(size);
        found.push((name.to_owned(), at, size * count));
        at += size * count;
        widest = widest.max(size);
    }
    (found, at.next_multiple_of(widest))
}

fn size_of_type(kind: &str) -> usize {
    match kind {
        "__u32" => 4,
        "__u64" => 8,
        other => panic!("the type {other} is not known here"),
    }
}

/// Evaluates a number, a shift, or a request: its direction, the size of its argument, the magic and its own number.
fn value_of(text: &str, contract: &Contract) -> u64 {
    let Some((direction, arguments)) = text.strip_prefix("_IO").and_then(|rest| rest.split_once('(')) else {
        let terms: Vec<u64> =
            text.trim_matches(['(', ')']).split("<<").map(|term| number(term.trim())).collect();
        return if let [base, shift] = terms[..] { base << shift } else { terms[0] };
    };
    let direction = ["", "W", "R"].iter().position(|known| *known == direction).expect("a direction") as u64;
    let arguments: Vec<&str> = arguments.trim_end_matches(')').split(',').map(str::trim).collect();
    let size = arguments.get(2).map_or(0, |kind| match kind.strip_prefix("struct ") {
        Some(name) => contract.structures[name].1,
        None => size_of_type(kind),
    });
    direction << 30 | (size as u64) << 16 | contract.numbers[arguments[0]] << 8 | number(arguments[1])
}

fn number(text: &str) -> u64 {
    let text = text.trim_end_matches('U');
    text.strip_prefix("0x")
        .map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16))
        .unwrap_or_else(|_| panic!("{text} is no number"))
}

/// Returns the contract as this crate defines it.
fn ours() -> Contract {
    macro_rules! fields {
        ($structure:ty: $($field:ident $size:literal),*) => {
            (vec![$((stringify!($field).to_owned(), offset_of!($structure, $field), $size)),*], size_of::<$structure>())
        };
    }
    let numbers = [
        ("FURLONG_ABI", u64::from(ABI)),
        ("FURLONG_IOC_MAGIC", u64::from(MAGIC)),
        ("FURLONG_MESSAGE_SIZE_MAX", u64::from(message::SIZE_MAX)),
        ("FURLONG_MESSAGE_DEPTH_MAX", u64::from(message::DEPTH_MAX)),
        ("FURLONG_SHM_PEERS", u64::from(shm::PEERS)),
        ("FURLONG_MESSAGE_STRICT", u64::from(message::STRICT)),
        ("FURLONG_MESSAGE_TRANSIENT", u64::from(message::TRANSIENT)),
        ("FURLONG_MESSAGE_INFO", message::INFO),
        ("FURLONG_MESSAGE_LIMITS", message::LIMITS),
        ("FURLONG_MESSAGE_FLAGS", message::FLAGS),
        ("FURLONG_MESSAGE_RESET", message::RESET),
        ("FURLONG_SHM_INFO", shm::INFO),
        ("FURLONG_SHM_RESIZE", shm::RESIZE),
        ("FURLONG_SHM_RING", shm::RING),
        ("FURLONG_SHM_WATCH", shm::WATCH),
    ];
    let structures = [
        (
            "furlong_message_info",
            fields!(message::Info: abi 4, channel 4, depth 4, size 4, queued 4, openers 4, flags 4, reserved 4,
                queued_bytes 8, sent 8, received 8, discarded 8),
        ),
        ("furlong_message_limits", fields!(message::Limits: depth 4, size 4, reserved 8)),
        (
            "furlong_shm_info",
            fields!(shm::Info: abi 4, channel 4, peer 4, mappings 4, size 8, peers 8, watched 8, gone 8),
        ),
    ];
    Contract {
        numbers: numbers.map(|(name, value)| (name.to_owned(), value)).into(),
        structures: structures.map(|(name, structure)| (name.to_owned(), structure)).into(),
    }
}

#[test]
fn the_header_says_what_this_crate_says() {
    assert_eq!(read(&header()), ours());
}

#[test]
fn a_change_of_the_header_is_noticed() {
    let changes = [
        ("__u32 peer;", "__u64 peer;"),
        ("__u64 queued_bytes;", "__u64 bytes;"),
        ("FURLONG_IOC_MAGIC, 0x12, __u32", "FURLONG_IOC_MAGIC, 0x12, __u64"),
        ("0x03)", "0x04)"),
        ("(1U << 1)", "(1U << 2)"),
        ("#define FURLONG_ABI\t\t1", "#define FURLONG_ABI\t\t2"),
        ("#define FURLONG_SHM_PEERS", "#define FURLONG_SHM_MORE\t1\n#define FURLONG_SHM_PEERS"),
    ];
    for (from, to) in changes {
        let (before, after) = (header(), header().replacen(from, to, 1));
        assert_ne!(before, after, "{from} is not in the header");
        assert_ne!(read(&after), ours(), "{from} can become {to}");
    }
}

#[test]
fn what_is_no_device_of_the_module_says_so() {
    use std::os::fd::AsFd;
    let absent = super::open(&message::path(9_999)).unwrap_err();
    assert!(
        absent.kind() == std::io::ErrorKind::NotFound
            && absent.to_string().contains("/dev/furlong-message9999")
    );
    let null = super::open("/dev/null".as_ref()).unwrap();
    assert!(message::info(null.as_fd()).unwrap_err().to_string().contains("FURLONG_MESSAGE_INFO"));
    assert!(shm::resize(null.as_fd(), 1).unwrap_err().to_string().contains("to 1 bytes"));
    assert_eq!(super::parameter("nothing of the kind"), None);
}
