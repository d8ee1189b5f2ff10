//! The driver's devices: who may open each, and what it holds, as the kernel says it in /sys.

use crate::system_files::SystemFiles;
use furlong_os::linux::access;
use serde::Serialize;
use std::path::PathBuf;

/// Where the kernel lists devices of this kind.
const CLASS: &str = "sys/class/misc";

/// What their names begin with.
const PREFIX: &str = "furlong-";

/// What /sys says of a device of either kind; each has a part of these.
const FIGURES: [&str; 9] =
    ["depth", "size", "queued", "sent", "received", "discarded", "openers", "peers", "mappings"];

/// A device.
#[derive(Debug, Clone, Serialize)]
pub struct Device {
    /// As in `furlong-message0`.
    pub name: String,
    /// What programs open, if it is there.
    pub node: Option<Node>,
    /// What it holds, by name.
    pub figures: Vec<(&'static str, u64)>,
}

/// What programs open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its path.
    pub path: PathBuf,
    /// Whether it is a device at all: a shell that writes to one that is not there makes a plain file of that name.
    pub is_device: bool,
    /// Its rights, as in `0660`.
    pub mode: String,
    /// The user it belongs to.
    pub owner: String,
    /// The group it belongs to.
    pub group: String,
    /// Whether this user may read and write it.
    pub may_open: bool,
}

impl Device {
    /// What it holds of something.
    pub fn figure(&self, name: &str) -> Option<u64> {
        self.figures.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Whether this user can use it.
    pub fn is_usable(&self) -> bool {
        self.node.as_ref().is_some_and(|node| node.is_device && node.may_open)
    }
}

/// All that the kernel has.
pub fn all(files: &SystemFiles) -> Vec<Device> {
    let names = files.names(CLASS).into_iter().filter(|name| name.starts_with(PREFIX));
    names.map(|name| Device { node: node(files, &name), figures: figures(files, &name), name }).collect()
}

/// Plain files that stand where devices would: something was written to one while the driver was not loaded.
pub fn plain_files(files: &SystemFiles) -> Vec<PathBuf> {
    let names = files.names("dev").into_iter().filter(|name| name.starts_with(PREFIX));
    let nodes = names.filter_map(|name| node(files, &name));
    nodes.filter(|node| !node.is_device).map(|node| node.path).collect()
}

fn figures(files: &SystemFiles, name: &str) -> Vec<(&'static str, u64)> {
    let figure = |figure| Some((figure, files.text(&format!("{CLASS}/{name}/{figure}"))?.parse().ok()?));
    FIGURES.into_iter().filter_map(figure).collect()
}

fn node(files: &SystemFiles, name: &str) -> Option<Node> {
    let path = files.at(&format!("dev/{name}"));
    let file = access::ownership(&path).ok()?;
    Some(Node {
        is_device: file.is_character_device,
        mode: format!("{:04o}", file.mode),
        owner: name_of(files, "etc/passwd", file.user),
        group: name_of(files, "etc/group", file.group),
        may_open: access::may_read_and_write(&path),
        path,
    })
}

/// The name of a user or group in a file that lists them, else its number.
fn name_of(files: &SystemFiles, file: &str, number: u32) -> String {
    let list = files.text(file).unwrap_or_default();
    let found = list.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(number)).then(|| name.to_owned())
    });
    found.unwrap_or_else(|| number.to_string())
}

/// Whether the system has a group of this name.
pub fn has_group(files: &SystemFiles, group: &str) -> bool {
    let list = files.text("etc/group").unwrap_or_default();
    list.lines().any(|line| line.split(':').next() == Some(group))
}
