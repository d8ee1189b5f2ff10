//! Entry point of the fuzzer (`fuzz/`): the head of a request.

use crate::request::{Request, Rules, is_whole, parse};

/// Returns the request of a head that was sent to port 80 with the secret `5ec4e7`, if the request is allowed.
pub fn request(head: &[u8]) -> Option<Request> {
    let asked = parse(head, &Rules::new(80, "5ec4e7")).ok();
    assert!(asked.is_none() || is_whole(head), "a head that is not whole was accepted");
    // Bytes after the head are not part of the request.
    if asked.is_some() {
        assert_eq!(parse(&[head, b"x"].concat(), &Rules::new(80, "5ec4e7")).ok(), asked);
    }
    asked.map(|asked| asked.request)
}
