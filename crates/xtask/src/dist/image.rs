//! An image for containers by the OCI's specification (image-spec 1.0): a layer of files, what to run in it, and an index, put
//! into one archive that `podman load`, `skopeo` and `ctr image import` take. No daemon is needed to make it.

use super::Release;
use super::files::{DOCUMENTS, Files};
use crate::driver::step;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the image. Its layer contains only the program, its licences and a directory for temporary files.
pub fn oci(release: &Release, files: &Files) -> anyhow::Result<PathBuf> {
    let layout = release.folder.join("image");
    let blobs = layout.join("blobs/sha256");
    fs::create_dir_all(&blobs)?;

    let layer = release.folder.join("layer.tar");
    fs::create_dir(files.root.join("tmp"))?;
    step::output(release.tar(&layer, &files.root).args([
        "--mode=u+rwX,go+rX",
        "usr/bin/furlong",
        DOCUMENTS,
        "tmp",
    ]))?;
    let layer = blob(&blobs, fs::read(&layer).and_then(|bytes| fs::remove_file(&layer).map(|()| bytes))?)?;

    let configuration = json!({
        // The OCI specification uses Debian's architecture names.
        "architecture": files.platform.debian,
        "os": "linux",
        "config": { "Entrypoint": ["/usr/bin/furlong"], "Env": ["PATH=/usr/bin", "HOME=/tmp", "TMPDIR=/tmp"] },
        // The diff ID of an uncompressed layer is its checksum.
        "rootfs": { "type": "layers", "diff_ids": [layer.sum] },
    });
    let configuration = blob(&blobs, configuration.to_string().into_bytes())?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": configuration.described("application/vnd.oci.image.config.v1+json"),
        "layers": [layer.described("application/vnd.oci.image.layer.v1.tar")],
    });
    let manifest = blob(&blobs, manifest.to_string().into_bytes())?;
    let mut named = manifest.described("application/vnd.oci.image.manifest.v1+json");
    named["annotations"] = json!({ "org.opencontainers.image.ref.name": release.version });
    fs::write(layout.join("index.json"), json!({ "schemaVersion": 2, "manifests": [named] }).to_string())?;
    fs::write(layout.join("oci-layout"), json!({ "imageLayoutVersion": "1.0.0" }).to_string())?;

    let path = release.folder.join(format!("furlong-{}-{}-oci.tar", release.version, files.platform.machine));
    step::output(release.tar(&path, &layout).args(["blobs", "index.json", "oci-layout"]))?;
    fs::remove_dir_all(layout)?;
    Ok(path)
}

/// Bytes under the name of their sum.
struct Blob {
    sum: String,
    bytes: usize,
}

impl Blob {
    fn described(&self, kind: &str) -> Value {
        json!({ "mediaType": kind, "digest": self.sum, "size": self.bytes })
    }
}

fn blob(folder: &Path, bytes: Vec<u8>) -> anyhow::Result<Blob> {
    let unnamed = folder.join("unnamed");
    fs::write(&unnamed, &bytes)?;
    let said = step::text(Command::new("sha256sum").arg(&unnamed))?;
    let sum = said.split(' ').next().unwrap_or_default();
    fs::rename(&unnamed, folder.join(sum))?;
    Ok(Blob { sum: format!("sha256:{sum}"), bytes: bytes.len() })
}
