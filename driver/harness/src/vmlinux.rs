//! Extracts the kernel from a bzImage, because an emulated CPU decompresses it a hundred times slower than this one.
//! QEMU boots the extracted kernel. Positions are from the kernel's Documentation/arch/x86/boot.rst.

use anyhow::{Context, bail};
use std::io::Write;
use std::process::{Command, Stdio};

/// Position of the number of sectors before the compressed part.
const SETUP_SECTORS: usize = 0x1f1;
/// Position of the magic number.
const MAGIC: usize = 0x202;
/// Positions of the header fields with the offset and the length of the compressed kernel.
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;

/// Compression formats by their magic bytes, with commands that decompress stdin to stdout. The decompressed length
/// follows the compressed data. It is part of the gzip format, but not of the others.
const FORMS: [(&[u8], &[&str]); 4] = [
    (&[0x1f, 0x8b], &["gzip", "-dc"]),
    (&[0x02, 0x21, 0x4c, 0x18], &["lz4", "-dc"]),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], &["xz", "-dc", "--single-stream"]),
    (&[0x28, 0xb5, 0x2f, 0xfd], &["zstd", "-dc"]),
];

/// Returns the decompressed kernel of `image`.
///
/// # Errors
/// Returns an error if the image has another format, or if its compression is unknown.
pub fn inside(image: &[u8]) -> anyhow::Result<Vec<u8>> {
    let payload = payload(image)?;
    let form = FORMS.iter().position(|(magic, _)| payload.starts_with(magic));
    let form = form.context("its compression format is unknown")?;
    let (body, length) = payload.split_at(payload.len() - 4);
    let kernel = decompress(if form == 0 { payload } else { body }, FORMS[form].1)?;
    let expected = word(length, 0)?;
    if kernel.len() != expected {
        bail!("it has {} bytes decompressed, but claims {expected}", kernel.len());
    }
    if !kernel.starts_with(b"\x7fELF") {
        bail!("its content is not an ELF file");
    }
    Ok(kernel)
}

/// Returns the compressed part of a bzImage, followed by its length.
fn payload(image: &[u8]) -> anyhow::Result<&[u8]> {
    if image.get(MAGIC..MAGIC + 4) != Some(b"HdrS") {
        bail!("it is not a bzImage");
    }
    let sectors = match image[SETUP_SECTORS] {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let start = (sectors + 1) * 512 + word(image, PAYLOAD_OFFSET)?;
    let length = word(image, PAYLOAD_LENGTH)?;
    let payload = start.checked_add(length).and_then(|end| image.get(start..end));
    payload.filter(|payload| payload.len() > 4).context("it ends before its compressed part does")
}

/// Returns the little-endian word at `offset`.
fn word(bytes: &[u8], offset: usize) -> anyhow::Result<usize> {
    let word = bytes.get(offset..offset + 4).and_then(|word| word.try_into().ok());
    Ok(u32::from_le_bytes(word.context("it is cut short")?) as usize)
}

fn decompress(body: &[u8], words: &[&str]) -> anyhow::Result<Vec<u8>> {
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", words[0]))?;
    let input = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // Both pipes are served in parallel; otherwise each side would wait for the other. A failed write shows in
        // the program's exit status.
        scope.spawn(move || input.map(|mut input| input.write_all(body)));
        child.wait_with_output()
    })
    .with_context(|| format!("cannot read from {}", words[0]))?;
    if !output.status.success() {
        bail!("{} ended with {}", words.join(" "), output.status);
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an image with one sector of setup and the gzip-compressed `kernel`.
    fn image(kernel: &[u8]) -> Vec<u8> {
        let packed = decompress(kernel, &["gzip", "-c"]).unwrap();
        let mut image = vec![0; 1024];
        image[SETUP_SECTORS] = 1;
        image[MAGIC..MAGIC + 4].copy_from_slice(b"HdrS");
        image[PAYLOAD_OFFSET..PAYLOAD_OFFSET + 4].copy_from_slice(&100_u32.to_le_bytes());
        image[PAYLOAD_LENGTH..PAYLOAD_LENGTH + 4].copy_from_slice(&(packed.len() as u32).to_le_bytes());
        image.extend([0; 100]);
        image.extend(packed);
        image.extend([0; 50]);
        image
    }

    #[test]
    fn the_kernel_comes_out_whole() {
        let kernel = [b"\x7fELF".to_vec(), vec![7; 300_000]].concat();
        assert_eq!(inside(&image(&kernel)).unwrap(), kernel);
    }

    #[test]
    fn what_is_no_such_image_is_named() {
        let whole = image(&[b"\x7fELF".as_slice(), &[7; 300]].concat());
        let message = |image: &[u8]| format!("{:#}", inside(image).unwrap_err());
        assert_eq!(message(b"MZ"), "it is not a bzImage");
        assert_eq!(message(&whole[..1130]), "it ends before its compressed part does");
        assert_eq!(message(&image(b"no kernel at all")), "its content is not an ELF file");
        let mut unknown = whole.clone();
        unknown[1124] ^= 0xff;
        assert_eq!(message(&unknown), "its compression format is unknown");
        let mut endless = whole;
        endless[PAYLOAD_OFFSET..PAYLOAD_OFFSET + 4].copy_from_slice(&[0xff; 4]);
        assert_eq!(message(&endless), "it ends before its compressed part does");
    }
}
