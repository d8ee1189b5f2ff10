//! Arguments in one text, which a program splits again (by the rules of the C library).

use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;

/// Returns the command line of a program with these arguments, with a terminating zero.
///
/// # Errors
/// Returns `InvalidInput` if the program or an argument contains a zero.
pub(crate) fn of(program: &Path, arguments: &[&str]) -> io::Result<Vec<u16>> {
    // A path contains no quotation marks.
    let mut line: Vec<u16> = vec![u16::from(b'"')];
    line.extend(program.as_os_str().encode_wide());
    line.push(u16::from(b'"'));
    for argument in arguments {
        line.extend(format!(" {}", quoted(argument)).encode_utf16());
    }
    if line.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an argument contains a zero byte"));
    }
    line.push(0);
    Ok(line)
}

/// Returns one argument, in quotation marks if it needs them. Backslashes before a quotation mark are doubled.
fn quoted(argument: &str) -> String {
    if !argument.is_empty() && !argument.contains([' ', '\t', '"']) {
        return argument.to_owned();
    }
    let mut quoted = String::from("\"");
    let mut backslashes = 0;
    for letter in argument.chars() {
        match letter {
            '\\' => backslashes += 1,
            '"' => {
                quoted.push_str(&"\\".repeat(backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        quoted.push(letter);
    }
    quoted + &"\\".repeat(backslashes) + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_they_need_it() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted(""), "\"\"");
        assert_eq!(quoted("two words"), "\"two words\"");
        assert_eq!(quoted(r#"say "yes""#), r#""say \"yes\"""#);
        assert_eq!(quoted(r"ends in \"), r#""ends in \\""#);
        assert_eq!(quoted(r"a\b"), r"a\b");
    }

    #[test]
    fn the_program_comes_first() {
        let line = of(Path::new(r"C:\two words\p.exe"), &["a", "b c"]).unwrap();
        assert_eq!(String::from_utf16_lossy(&line), "\"C:\\two words\\p.exe\" a \"b c\"\0");
        assert!(of(Path::new("p"), &["a\0b"]).is_err());
    }
}
