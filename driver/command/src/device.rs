//! The driver's devices: their permissions, and their figures as the kernel shows them in /sys.

use crate::system_files::SystemFiles;
use furlong_os::linux::access;
use serde::Serialize;
use std::path::PathBuf;

/// Directory in which the kernel lists miscellaneous devices.
const CLASS: &str = "sys/class/misc";

/// Prefix of device names.
const PREFIX: &str = "furlong-";

/// Attributes of a device in /sys; each kind of device has some of them.
const FIGURES: [&str; 9] =
    ["depth", "size", "queued", "sent", "received", "discarded", "openers", "peers", "mappings"];

/// A device.
#[derive(Debug, Clone, Serialize)]
pub struct Device {
    /// Name such as `furlong-message0`.
    pub name: String,
    /// Device node that programs open, if it exists.
    pub node: Option<Node>,
    /// Figures of the device by name.
    pub figures: Vec<(&'static str, u64)>,
}

/// Device node that programs open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Path of the node.
    pub path: PathBuf,
    /// Whether the path is a device. A shell that writes to a missing device creates a plain file of that name.
    pub is_device: bool,
    /// Permissions such as `0660`.
    pub mode: String,
    /// The user it belongs to.
    pub owner: String,
    /// The group it belongs to.
    pub group: String,
    /// Whether this user may read and write it.
    pub may_open: bool,
}

impl Device {
    /// Returns the figure of this name.
    pub fn figure(&self, name: &str) -> Option<u64> {
        self.figures.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Returns whether this user can use the device.
    pub fn is_usable(&self) -> bool {
        self.node.as_ref().is_some_and(|node| node.is_device && node.may_open)
    }
}

/// Returns all furlong devices of the kernel.
pub fn all(files: &SystemFiles) -> Vec<Device> {
    let names = files.names(CLASS).into_iter().filter(|name| name.starts_with(PREFIX));
    names.map(|name| Device { node: node(files, &name), figures: figures(files, &name), name }).collect()
}

/// Returns plain files at the paths of devices. A program wrote to such a path while the driver was not loaded.
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

/// Returns the name of a user or group from the file that lists them, or its number.
fn name_of(files: &SystemFiles, file: &str, number: u32) -> String {
    let list = files.text(file).unwrap_or_default();
    let found = list.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(number)).then(|| name.to_owned())
    });
    found.unwrap_or_else(|| number.to_string())
}

/// Returns whether the system has a group of this name.
pub fn has_group(files: &SystemFiles, group: &str) -> bool {
    let list = files.text("etc/group").unwrap_or_default();
    list.lines().any(|line| line.split(':').next() == Some(group))
}
