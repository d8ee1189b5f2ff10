//! Import of pcap files: TCP and UDP packets of a loopback or an Ethernet interface, or of `tcpdump -i any`.
//! <https://ietf-opsawg-wg.github.io/draft-ietf-opsawg-pcap/draft-ietf-opsawg-pcap.html> defines the file.

use crate::{ImportedMessage, TraceError};
use std::io::BufRead;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Magic numbers of times in microseconds and in nanoseconds.
const MAGIC: [u32; 2] = [0xa1b2_c3d4, 0xa1b2_3c4d];

/// Most bytes of a packet in the file.
const MOST_BYTES: u32 = 1 << 20;

const FILE_HEADER_BYTES: usize = 24;
const PACKET_HEADER_BYTES: usize = 16;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Packets of a pcap file.
#[derive(Debug)]
pub(crate) struct Pcap<R> {
    from: R,
    is_big_endian: bool,
    /// Nanoseconds of a unit of the fraction of a second.
    unit_ns: u32,
    link_type: u16,
    /// Offset of the last packet in bytes.
    pub packet_at: u64,
    /// Offset of the next packet in bytes.
    next_at: u64,
    /// Packets without a TCP or UDP payload.
    pub left_out: u64,
    packet: Vec<u8>,
}

impl<R: BufRead> Pcap<R> {
    /// Returns whether a file with these first bytes is a pcap file.
    pub fn is_format(first: &[u8]) -> bool {
        first.first_chunk().is_some_and(|word| {
            MAGIC.iter().any(|magic| [magic.to_be_bytes(), magic.to_le_bytes()].contains(word))
        })
    }

    /// Reads the header of the file.
    pub fn new(from: R) -> Result<Pcap<R>, TraceError> {
        let mut pcap = Pcap {
            from,
            is_big_endian: false,
            unit_ns: 1,
            link_type: 0,
            packet_at: 0,
            next_at: 0,
            left_out: 0,
            packet: Vec::new(),
        };
        pcap.fill(FILE_HEADER_BYTES)?;
        let header = std::mem::take(&mut pcap.packet);
        pcap.is_big_endian = MAGIC.iter().any(|magic| header.starts_with(&magic.to_be_bytes()));
        pcap.unit_ns = if pcap.word(&header, 0) == MAGIC[0] { 1000 } else { 1 };
        // The upper half has the length of the frame check sequence.
        pcap.link_type = pcap.word(&header, 20) as u16;
        match pcap.link_type {
            NULL | ETHERNET | RAW | LOOP | LINUX_SLL | LINUX_SLL2 => Ok(pcap),
            other => {
                let what = format!(
                    "link type {other} is not supported: capture from Ethernet, the loopback or 'tcpdump -i any'"
                );
                Err(TraceError::Offset(20, what))
            }
        }
    }

    fn word(&self, header: &[u8], at: usize) -> u32 {
        let word = header.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        if self.is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    }

    /// Reads `bytes` bytes into the packet. Returns how many of them the file has, which is none only at its end.
    fn fill(&mut self, bytes: usize) -> Result<usize, TraceError> {
        self.packet.resize(bytes, 0);
        let mut filled = 0;
        while filled < bytes {
            match self.from.read(&mut self.packet[filled..]) {
                Ok(0) if filled == 0 => return Ok(0),
                Ok(0) => {
                    let what = format!("truncated: {filled} of {bytes} bytes");
                    return Err(TraceError::Offset(self.next_at, what));
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::Offset(self.next_at, format!("cannot read: {error}"))),
            }
        }
        self.next_at += bytes as u64;
        Ok(filled)
    }

    /// Returns the next message; `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<ImportedMessage>, TraceError> {
        loop {
            self.packet_at = self.next_at;
            if self.fill(PACKET_HEADER_BYTES)? == 0 {
                return Ok(None);
            }
            let [seconds, fraction, stored, original] = [0, 4, 8, 12].map(|at| self.word(&self.packet, at));
            let fraction_ns = u64::from(fraction) * u64::from(self.unit_ns);
            if stored > MOST_BYTES || fraction_ns >= 1_000_000_000 {
                let what = format!(
                    "not a packet: it claims {stored} bytes and a fraction of a second of {fraction_ns} ns"
                );
                return Err(TraceError::Offset(self.packet_at, what));
            }
            if stored > 0 && self.fill(stored as usize)? == 0 {
                return Err(TraceError::Offset(self.next_at, format!("truncated: 0 of {stored} bytes")));
            }
            let payload = (stored > 0).then(|| payload(self.link_type, &self.packet, original)).flatten();
            let Some(Payload { from, to, bytes }) = payload else {
                self.left_out += 1;
                continue;
            };
            return Ok(Some(ImportedMessage {
                time_ns: u64::from(seconds) * 1_000_000_000 + fraction_ns,
                sender: from.to_string(),
                receiver: to.to_string(),
                size_bytes: bytes,
            }));
        }
    }
}

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const RAW: u16 = 101;
const LOOP: u16 = 108;
const LINUX_SLL: u16 = 113;
const LINUX_SLL2: u16 = 276;

/// Payload of a TCP or UDP packet.
struct Payload {
    from: SocketAddr,
    to: SocketAddr,
    bytes: u32,
}

/// Returns the payload of a packet; `None` if it has none, or is not TCP or UDP. The packet may be cut after its headers.
fn payload(link_type: u16, packet: &[u8], original: u32) -> Option<Payload> {
    let (header_bytes, ethertype) = match link_type {
        ETHERNET => (14, half(packet, 12)?),
        LINUX_SLL => (16, half(packet, 14)?),
        LINUX_SLL2 => (20, half(packet, 0)?),
        _ => {
            let header_bytes = if matches!(link_type, NULL | LOOP) { 4 } else { 0 };
            let version = packet.get(header_bytes)? >> 4;
            (header_bytes, if version == 6 { ETHERTYPE_IPV6 } else { ETHERTYPE_IPV4 })
        }
    };
    let packet = packet.get(header_bytes..)?;
    let original = original.checked_sub(header_bytes as u32)?;
    match ethertype {
        ETHERTYPE_IPV4 => ipv4(packet, original),
        ETHERTYPE_IPV6 => ipv6(packet, original),
        _ => None,
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|half| u16::from_be_bytes(*half))
}

fn ipv4(packet: &[u8], original: u32) -> Option<Payload> {
    let header_bytes = usize::from(packet.first()? & 15) * 4;
    let address = |at: usize| packet.get(at..)?.first_chunk().map(|bytes: &[u8; 4]| Ipv4Addr::from(*bytes));
    // Only the first fragment has ports.
    let is_later_fragment = half(packet, 6)? & 0x1fff > 0;
    if packet.first()? >> 4 != 4 || header_bytes < 20 || is_later_fragment {
        return None;
    }
    // Segmentation offload leaves the length at 0.
    let length = match half(packet, 2)? {
        0 => original,
        length => length.into(),
    };
    let addresses = [address(12)?.into(), address(16)?.into()];
    transport(
        *packet.get(9)?,
        packet.get(header_bytes..)?,
        length.checked_sub(header_bytes as u32)?,
        addresses,
    )
}

fn ipv6(packet: &[u8], original: u32) -> Option<Payload> {
    const HEADER_BYTES: u32 = 40;
    let address = |at: usize| packet.get(at..)?.first_chunk().map(|bytes: &[u8; 16]| Ipv6Addr::from(*bytes));
    let addresses = [address(8)?.into(), address(24)?.into()];
    let length = match half(packet, 4)? {
        0 => original.checked_sub(HEADER_BYTES)?,
        length => length.into(),
    };
    transport(*packet.get(6)?, packet.get(HEADER_BYTES as usize..)?, length, addresses)
}

/// Returns the payload of a segment or datagram of `length` bytes with its header.
fn transport(protocol: u8, packet: &[u8], length: u32, addresses: [IpAddr; 2]) -> Option<Payload> {
    let [from, to] =
        [SocketAddr::new(addresses[0], half(packet, 0)?), SocketAddr::new(addresses[1], half(packet, 2)?)];
    let bytes = match protocol {
        TCP => length.checked_sub(u32::from(*packet.get(12)? >> 4) * 4)?,
        // The first fragment has the length of the whole datagram.
        UDP => u32::from(half(packet, 4)?).checked_sub(8)?,
        _ => return None,
    };
    (bytes > 0).then_some(Payload { from, to, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TraceReader;

    /// Returns a file of this link type with these packets, each with its microseconds.
    fn file(link_type: u32, packets: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let words = [MAGIC[0], 0x0004_0002, 0, 0, 65_535, link_type];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        for (us, packet) in packets {
            let length = packet.len() as u32;
            bytes.extend([1_700_000_000, *us, length, length].iter().flat_map(|word| word.to_le_bytes()));
            bytes.extend(packet);
        }
        bytes
    }

    /// Returns an IPv4 packet with ports 7 and 9, and this protocol and payload.
    fn packet(protocol: u8, payload: usize) -> Vec<u8> {
        let mut transport = vec![0, 7, 0, 9];
        match protocol {
            TCP => transport.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 0, 0]),
            _ => transport.extend([0, payload as u8 + 8, 0, 0]),
        }
        transport.extend(vec![1; payload]);
        let length = transport.len() as u8 + 20;
        let header = [0x45, 0, 0, length, 0, 0, 0x40, 0, 64, protocol, 0, 0, 127, 0, 0, 1, 127, 0, 0, 2];
        [&header[..], &transport].concat()
    }

    fn ipv6(payload: usize) -> Vec<u8> {
        let transport = &packet(UDP, payload)[20..];
        let mut header = vec![0x60, 0, 0, 0, 0, transport.len() as u8, UDP, 64];
        header.extend([Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST].iter().flat_map(Ipv6Addr::octets));
        [&header[..], transport].concat()
    }

    fn framed(prefix: &[u8], packet: Vec<u8>) -> Vec<u8> {
        [prefix, &packet].concat()
    }

    fn read(bytes: &[u8]) -> (Vec<(u64, String, u32)>, u64) {
        let mut reader = TraceReader::new(bytes).unwrap();
        let messages = reader
            .by_ref()
            .map(Result::unwrap)
            .map(|message| (message.time_ns, message.link(), message.size_bytes));
        (messages.collect(), reader.left_out())
    }

    #[test]
    fn packets_of_every_link_type_become_messages() {
        let mut sll = [0; 16];
        sll[14] = 8;
        let mut sll2 = [0; 20];
        sll2[0] = 8;
        let mut ethernet = [0; 14];
        ethernet[12] = 8;
        let frames: [(u16, &[u8]); 5] = [
            (ETHERNET, &ethernet),
            (LINUX_SLL, &sll),
            (LINUX_SLL2, &sll2),
            (NULL, &[2, 0, 0, 0]),
            (RAW, &[]),
        ];
        for (link_type, prefix) in frames {
            let packets = [(5, TCP, 0), (7, TCP, 100), (9, UDP, 30)]
                .map(|(us, protocol, payload)| (us, framed(prefix, packet(protocol, payload))));
            let link = || "127.0.0.1:7->127.0.0.2:9".to_owned();
            let expected = (vec![(0, link(), 100), (2000, link(), 30)], 1);
            assert_eq!(read(&file(link_type.into(), &packets)), expected, "{link_type}");
        }
        let (messages, _) = read(&file(RAW.into(), &[(0, ipv6(12))]));
        assert_eq!(messages, [(0, "[::1]:7->[::1]:9".to_owned(), 12)]);
    }

    #[test]
    fn big_endian_files_have_nanoseconds() {
        let mut bytes = Vec::new();
        bytes.extend(
            [MAGIC[1], 0x0002_0004, 0, 0, 65_535, u32::from(RAW)].iter().flat_map(|word| word.to_be_bytes()),
        );
        for ns in [5, 999_999_999_u32] {
            let packet = packet(UDP, 3);
            let length = packet.len() as u32;
            bytes.extend([1, ns, length, length].iter().flat_map(|word| word.to_be_bytes()));
            bytes.extend(packet);
        }
        assert_eq!(read(&bytes).0.last().map(|message| message.0), Some(999_999_994));
    }

    #[test]
    fn truncated_files_are_rejected_with_the_offset() {
        let bytes = file(RAW.into(), &[(0, packet(TCP, 9)), (1, packet(TCP, 9))]);
        let whole = bytes.len();
        for length in 24 + 1..whole {
            let mut reader = TraceReader::new(&bytes[..length]).unwrap();
            let error = reader.find_map(Result::err);
            // The second packet begins at this offset.
            assert_eq!(error.is_none(), length == 24 + 16 + 49, "{length}: {error:?}");
        }
        assert_eq!(
            TraceReader::new(&bytes[..20]).unwrap_err().to_string(),
            "offset 0: truncated: 20 of 24 bytes"
        );
        assert!(TraceReader::new(&file(147, &[])[..]).unwrap_err().to_string().contains("link type 147"));
    }
}
