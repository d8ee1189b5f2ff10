//! The script that draws interactive charts, out of the package that brings it, packed so that a report stays small.
//!
//! A page unpacks it when the first chart comes into view. What the package has beside it, a typesetter of formulas
//! that no chart needs, is left out.

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::ZlibEncoder};
use plotly::Plot;
use std::io::Write;
use std::sync::OnceLock;

/// Where a script begins in the package's text.
const BEGINS: &str = "<script type=\"text/javascript\">";
/// And ends.
const ENDS: &str = "</script>";
/// A line near its head that no other script has.
const MARK: &str = "* plotly.js v";
/// Letters in which the mark must be.
const HEAD: usize = 400;

/// The script as it is; `None` if the package brings it in another way than the one that is known.
fn script() -> Option<String> {
    let sources = Plot::offline_js_sources();
    let scripts = sources.split(BEGINS).skip(1).filter_map(|rest| rest.split_once(ENDS));
    let is_it = |script: &str| script.chars().take(HEAD).collect::<String>().contains(MARK);
    scripts.map(|(script, _)| script).find(|script| is_it(script)).map(str::to_owned)
}

/// The script with zlib in base64; `None` where there is none, and charts stay still.
pub fn packed() -> Option<&'static str> {
    // Packing takes a tenth of a second, and tests make many reports.
    static PACKED: OnceLock<Option<String>> = OnceLock::new();
    let pack = || {
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::new(7));
        packer.write_all(script()?.as_bytes()).ok()?;
        Some(STANDARD.encode(packer.finish().ok()?))
    };
    PACKED.get_or_init(pack).as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn it_is_plotly_alone_and_as_it_was() {
        let script = script().expect("the package brings its script as before");
        // The typesetter's own word.
        assert!(Plot::offline_js_sources().contains("TeXFont"));
        assert!(script.starts_with("/**\n* plotly.js v") && !script.contains("TeXFont"), "{}", &script[..80]);
        assert!(script.len() > 3_000_000 && !script.contains("</script"));
        let packed = STANDARD.decode(packed().unwrap()).unwrap();
        let mut unpacked = String::new();
        flate2::read::ZlibDecoder::new(packed.as_slice()).read_to_string(&mut unpacked).unwrap();
        assert!(unpacked == script);
        assert!(packed.len() < 2_000_000, "{}", packed.len());
    }
}
