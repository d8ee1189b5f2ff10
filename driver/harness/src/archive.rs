//! A cpio archive in the form that the kernel unpacks, described in its
//! Documentation/driver-api/early-userspace/buffer-format.rst. All entries belong to root and have no time, so that
//! equal content gives equal bytes.

use std::path::Path;

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const FILE: u32 = 0o100_644;
const LINK: u32 = 0o120_777;
const CHARACTER_DEVICE: u32 = 0o020_600;

/// An archive under construction. A directory precedes its contents.
#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    /// Adds a directory. Names have no leading `/`.
    pub fn folder(&mut self, name: &str) {
        self.entry(name, FOLDER, &[], (0, 0));
    }

    /// Adds the directories above `path`. The kernel ignores directories that already exist.
    pub fn folders_of(&mut self, path: &Path) {
        let mut folders: Vec<_> = path.ancestors().skip(1).map(Path::to_string_lossy).collect();
        // The last one is the root, which is nameless.
        folders.pop();
        folders.iter().rev().for_each(|folder| self.folder(folder));
    }

    /// Adds an executable file.
    pub fn program(&mut self, name: &str, content: &[u8]) {
        self.entry(name, PROGRAM, content, (0, 0));
    }

    /// Adds a file that is not executable.
    pub fn file(&mut self, name: &str, content: &[u8]) {
        self.entry(name, FILE, content, (0, 0));
    }

    /// Adds a symbolic link to `to`.
    pub fn link(&mut self, name: &str, to: &str) {
        self.entry(name, LINK, to.as_bytes(), (0, 0));
    }

    /// Adds the node of a character device with this number.
    pub fn character_device(&mut self, name: &str, major: u32, minor: u32) {
        self.entry(name, CHARACTER_DEVICE, &[], (major, minor));
    }

    /// Returns the finished archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[], (0, 0));
        self.bytes
    }

    fn entry(&mut self, name: &str, mode: u32, content: &[u8], device: (u32, u32)) {
        self.entries += 1;
        let links = 1;
        let fields = [
            self.entries,
            mode,
            0,
            0,
            links,
            0,
            content.len() as u32,
            0,
            0,
            device.0,
            device.1,
            name.len() as u32 + 1,
            0,
        ];
        self.bytes.extend(b"070701");
        for field in fields {
            self.bytes.extend(format!("{field:08x}").bytes());
        }
        self.bytes.extend(name.bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend(content);
        self.align();
    }

    /// Pads with zeros, because names and contents end at a multiple of four.
    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    fn example() -> Vec<u8> {
        let mut archive = Archive::default();
        archive.folder("a");
        archive.program("a/run", b"#!/bin/sh\necho it ran\n");
        archive.file("a/odd", b"12345");
        archive.link("sh", "a/run");
        archive.finish()
    }

    #[test]
    fn the_same_content_gives_the_same_bytes_in_fours() {
        let archive = example();
        assert_eq!(archive, example());
        assert!(archive.starts_with(b"07070100000001000041ed"));
        assert_eq!(archive.len() % 4, 0);
        let text = String::from_utf8_lossy(&archive);
        assert!(
            text.contains("a/odd\0")
                && text.contains(concat!("12345\0\0\0", "070701"))
                && text.contains("TRAILER!!!\0")
        );
    }

    /// Unpacks it with an independent program.
    #[test]
    fn others_unpack_it() {
        let folder = std::env::temp_dir().join(format!("furlong-archive-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let child = Command::new("busybox")
            .args(["cpio", "-i", "-d"])
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            std::fs::remove_dir_all(&folder).unwrap();
            furlong_testing::skip!("needs busybox");
        };
        child.stdin.take().unwrap().write_all(&example()).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let ran = Command::new(folder.join("sh")).current_dir(&folder).output();
        let odd = std::fs::read(folder.join("a/odd"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(odd.unwrap(), b"12345");
        assert_eq!(ran.unwrap().stdout, b"it ran\n");
    }
}
