//! The inventory as a table.

use super::object::{Amount, AmountUnit, Object, ObjectState};
use crate::identity::{Access, Holder};
use furlong_model::{display_width, shortened};
use furlong_render::document::{Column, Document, Row, Section, Table, Tone};
use furlong_render::{plain, three_digits};

/// Text in place of an unknown value.
const UNKNOWN: &str = "–";
/// Minimum widths of names and of holders. Other columns are dropped first.
const NARROWEST_NAME: usize = 12;
const NARROWEST_HOLDERS: usize = 16;

/// Returns the document of the selected objects. Names and holders are cut so that a line fits into `width`.
pub fn document(objects: &[&Object], footnotes: Vec<String>, now_unix_s: i64, width: usize) -> Document {
    let columns = [
        Column::words("kind"),
        Column::words("name"),
        Column::words("processes"),
        Column::figures("content"),
        Column::figures("size").expendable(1),
        Column::figures("age").expendable(2),
    ];
    let mut cells: Vec<[String; 6]> = objects.iter().map(|object| line(object, now_unix_s)).collect();
    let widest = |at: usize| {
        let cells = cells.iter().map(|cells| display_width(&cells[at]));
        cells.chain([display_width(&columns[at].name)]).max().unwrap_or(0)
    };
    // The rule below the names of columns is a column wider than the lines.
    let fixed = [0, 3, 4, 5].map(widest).iter().sum::<usize>() + 2 * (columns.len() - 1) + 1;
    let room = width.saturating_sub(fixed).max(NARROWEST_NAME + NARROWEST_HOLDERS);
    let name_width = widest(1).min(room - widest(2).min(room * 3 / 5));
    let holders_width = room - name_width;
    for cells in &mut cells {
        cells[1] = cut_name(&cells[1], name_width);
        cells[2] = shortened(&cells[2], holders_width);
    }
    let rows = objects.iter().zip(cells).map(|(object, cells)| Row {
        tone: if object.is_orphan() { Tone::Warning } else { Tone::Neutral },
        cells: cells.into_iter().map(Into::into).collect(),
    });
    let section = match objects {
        [] => Section::default().paragraph("No IPC object was found."),
        _ => Section::default().table(Table::new(columns, rows.collect())),
    };
    Document::from_iter([section.footnotes(footnotes)])
}

fn line(object: &Object, now_unix_s: i64) -> [String; 6] {
    let name = match &object.name {
        // The ID is what ipcrm needs.
        Some(key) if object.is_sysv() => format!("id {} {key}", object.id.number),
        Some(name) => plain(name),
        None => format!("inode {}", object.id.number),
    };
    let age = object.created_unix_s.map_or_else(|| UNKNOWN.to_owned(), |created| age(now_unix_s - created));
    [object.id.kind.name(), name, users(object), amount(&object.content), amount(&object.size), age]
}

/// Returns the processes of an object: senders before receivers, clients before servers.
fn users(object: &Object) -> String {
    match object.state {
        ObjectState::Orphan => return "orphan: no process".to_owned(),
        ObjectState::NoVisibleHolder => return "orphan? no visible process".to_owned(),
        ObjectState::UsersExited => return "orphan? last users exited".to_owned(),
        ObjectState::Unknown if object.holders.is_empty() => return "unknown".to_owned(),
        _ => {}
    }
    let (first, then): (Vec<_>, Vec<_>) = object.holders.iter().partition(|holder| is_first(object, holder));
    let is_one_way = |holder: &Holder| matches!(holder.access, Access::Writes | Access::Listens);
    let is_two_way = object.ends.len() == 2 && !object.holders.iter().any(is_one_way);
    // A pipe without a visible writer or reader is a link with a missing side, unless a process holds both ends.
    let is_whole = |holder: &Holder| holder.access == Access::ReadsAndWrites;
    let has_sides = object.ends.len() > 1 || object.is_pipe() && !object.holders.iter().any(is_whole);
    match (first.as_slice(), then.as_slice()) {
        (first, []) if !has_sides => listed(first),
        ([], then) if !has_sides => listed(then),
        (first, then) => {
            let [first, then] =
                [first, then].map(|side| if side.is_empty() { "?".to_owned() } else { listed(side) });
            format!("{first} {} {then}", if is_two_way { "↔" } else { "→" })
        }
    }
}

/// Returns whether a holder is listed before the arrow: it sends, or is the client of a connection.
fn is_first(object: &Object, holder: &Holder) -> bool {
    match (holder.access, holder.end) {
        (Access::Writes | Access::SentLast, _) => true,
        (Access::ReadsAndWrites, Some(end)) => {
            let server = object.ends.iter().find(|end| end.address.is_some() && end.address == object.name);
            server.or(object.ends.last()).is_some_and(|server| server.inode != end)
        }
        _ => false,
    }
}

/// Returns the processes of one side. Processes of one program follow its name.
fn listed(holders: &[&Holder]) -> String {
    let mut programs = Vec::<(&str, Vec<String>)>::new();
    for holder in holders {
        let pid = holder.pid.to_string();
        match programs.iter_mut().find(|(command, _)| *command == holder.command) {
            Some((_, pids)) if pids.contains(&pid) => {}
            Some((_, pids)) => pids.push(pid),
            None => programs.push((&holder.command, vec![pid])),
        }
    }
    let programs = programs.iter().map(|(command, pids)| format!("{} {}", plain(command), pids.join(" ")));
    programs.collect::<Vec<_>>().join(", ")
}

/// Returns the first amount, which says most.
fn amount(amounts: &[Amount]) -> String {
    let Some(Amount { value, unit }) = amounts.first() else { return UNKNOWN.to_owned() };
    let plural = |word: &str| format!("{value} {word}{}", if *value == 1 { "" } else { "s" });
    match unit {
        AmountUnit::Bytes | AmountUnit::KernelBytes => bytes(*value),
        AmountUnit::Messages => plural("msg"),
        AmountUnit::Connections => plural("conn"),
        AmountUnit::Semaphores => plural("sem"),
        AmountUnit::Waiters => format!("{value} waiting"),
        AmountUnit::Count => value.to_string(),
    }
}

/// Returns a number of bytes with up to three digits.
fn bytes(value: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, factor)| value >= *factor) {
        Some((unit, factor)) if value.is_multiple_of(factor) => format!("{} {unit}", value / factor),
        Some((unit, factor)) => format!("{} {unit}", three_digits(value as f64 / factor as f64)),
        None => format!("{value} B"),
    }
}

/// Returns a time in its largest unit.
fn age(seconds: i64) -> String {
    let units = [("d", 86_400), ("h", 3_600), ("min", 60)];
    let (unit, factor) = units.into_iter().find(|(_, factor)| seconds >= *factor).unwrap_or(("s", 1));
    format!("{} {unit}", seconds.max(0) / factor)
}

/// Returns a name of at most `width` columns. The end of a path is more useful than its beginning.
fn cut_name(name: &str, width: usize) -> String {
    if display_width(name) <= width || !name.starts_with('/') {
        return shortened(name, width);
    }
    let kept: String = shortened(&name.chars().rev().collect::<String>(), width).chars().rev().collect();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{ObjectId, ObjectKind};
    use crate::objects::object::SocketEnd;
    use furlong_render::{Style, document_text};

    fn object(kind: ObjectKind, holders: &[(i32, &str, Access, Option<u64>)]) -> Object {
        let holder = |&(pid, command, access, end): &(i32, &str, Access, Option<u64>)| Holder {
            pid,
            command: command.to_owned(),
            access,
            end,
        };
        Object {
            holders: holders.iter().map(holder).collect(),
            state: ObjectState::InUse,
            ..Object::new(ObjectId { kind, device: 0, number: 7 })
        }
    }

    fn end(inode: u64, address: Option<&str>) -> SocketEnd {
        let address = address.map(str::to_owned);
        SocketEnd { inode, address, receive_queue_bytes: 0, send_queue_bytes: 0 }
    }

    #[test]
    fn arrow_leads_from_senders_to_receivers() {
        let pipe = [
            (3, "tee", Access::Reads, None),
            (1, "yes", Access::Writes, None),
            (2, "yes", Access::Writes, None),
        ];
        assert_eq!(users(&object(ObjectKind::Pipe, &pipe)), "yes 1 2 → tee 3");
        assert_eq!(users(&object(ObjectKind::Pipe, &pipe[..1])), "? → tee 3");
        let both = [(1, "make", Access::ReadsAndWrites, None)];
        assert_eq!(users(&object(ObjectKind::Pipe, &both)), "make 1");
        let memory = [(1, "a", Access::Maps, None), (2, "b", Access::MapsToRead, None)];
        assert_eq!(users(&object(ObjectKind::Memfd, &memory)), "a 1, b 2");
        let orphan = Object { state: ObjectState::Orphan, ..object(ObjectKind::PosixShm, &[]) };
        assert_eq!(users(&orphan), "orphan: no process");
    }

    #[test]
    fn client_of_a_connection_is_first_and_hidden_end_is_a_question_mark() {
        let (server, client) =
            ((1, "redis", Access::ReadsAndWrites, Some(10)), (2, "cli", Access::ReadsAndWrites, Some(20)));
        let connection = |holders: &[_]| Object {
            name: Some("/run/redis".to_owned()),
            ends: vec![end(10, Some("/run/redis")), end(20, None)],
            ..object(ObjectKind::Unix, holders)
        };
        assert_eq!(users(&connection(&[server, client])), "cli 2 ↔ redis 1");
        assert_eq!(users(&connection(&[client])), "cli 2 ↔ ?");
        assert!(connection(&[client]).is_link());
        let receiver = (1, "syslog", Access::Listens, Some(10));
        let sender = (2, "cli", Access::Writes, Some(20));
        assert_eq!(users(&connection(&[receiver, sender])), "cli 2 → syslog 1");
    }

    #[test]
    fn long_names_are_cut_to_the_width_and_control_characters_are_removed() {
        let name = format!("/{}/\u{1b}[2Jsocket", "long".repeat(40));
        let holders: Vec<_> = (1..100).map(|pid| (pid, "worker", Access::ReadsAndWrites, None)).collect();
        let named = Object { name: Some(name), ..object(ObjectKind::Fifo, &holders) };
        for width in [60, 80, 120] {
            let style = Style { width, ..Style::default() };
            let text = document_text(&document(&[&named], vec![], 0, width), style);
            assert!(text.lines().all(|line| display_width(line) <= width), "{text}");
            assert!(text.contains("[2Jsocket") && !text.contains('\u{1b}'), "{text}");
            assert!(text.contains("worker 1 2 3") && text.contains('…'), "{text}");
        }
    }

    #[test]
    fn amounts_and_ages_have_few_digits() {
        let texts = [0, 1023, 1024, 65536, 100_000, 1 << 30].map(bytes);
        assert_eq!(texts, ["0 B", "1023 B", "1 KiB", "64 KiB", "97.7 KiB", "1 GiB"]);
        assert_eq!([-1, 59, 60, 7200, 90_000].map(age), ["0 s", "59 s", "1 min", "2 h", "1 d"]);
        assert_eq!(amount(&[Amount::new(1, AmountUnit::Messages)]), "1 msg");
        assert_eq!(amount(&[]), UNKNOWN);
    }
}
