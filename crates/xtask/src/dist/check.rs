//! Checks that release files are reproducible and run on a system without other files.

use super::files::DOCUMENTS;
use super::licences;
use super::platform::Platform;
use crate::driver::{headers, step};
use crate::target::target;
use crate::tool;
use anyhow::{Context, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Arguments of the run with each program: a mechanism of each kind, measured briefly.
const MEASURES: &str =
    "run pipe unix-stream posix-shm posix-mq --trials 2 --budget 2ms --no-save --no-progress --require";

/// Checks that every dependency has a licence, a source and a number of versions that `deny.toml` allows.
pub fn dependencies() -> anyhow::Result<()> {
    let mut deny = tool::DENY.command()?;
    step::output(deny.args(["--frozen", "check", "--deny", "warnings", "licenses", "bans", "sources"]))?;
    println!("xtask: every dependency is one that deny.toml allows");
    Ok(())
}

/// Wants furlong, furlong-adapter, furlong-channel and what they need to be ready for crates.io and docs.rs: each compiles from
/// packages alone, and its documentation without a warning.
pub fn published() -> anyhow::Result<()> {
    let cargo = |words: &str| {
        let mut cargo = Command::new("cargo");
        cargo.args(words.split_whitespace()).current_dir(crate::root()).env("RUSTDOCFLAGS", "-D warnings");
        step::output(&mut cargo)
    };
    forget_packages()?;
    // The package gets its files from outside its directory through this list. The list stays, for
    // `cargo publish --workspace`.
    let packaged = crate::root().join("crates/adapter-files/packaged.txt");
    fs::write(&packaged, format!("&{:?}\n", furlong_adapter_files::sources::FILES))?;
    cargo("publish --workspace --dry-run --allow-dirty --locked")?;
    cargo("doc --workspace --no-deps --locked --exclude xtask")?;
    println!("xtask: every public crate is ready to be published");
    Ok(())
}

/// Removes the results of earlier checks, because cargo reuses a package of equal version, unpacked or compiled.
fn forget_packages() -> anyhow::Result<()> {
    let mut stale = vec![target()?.join("package")];
    let sources = Path::new(&super::cargo_home()?).join("registry/src");
    for source in fs::read_dir(&sources).into_iter().flatten() {
        let source = source?;
        // The registry for checked packages has no host name, unlike all others.
        if source.file_name().as_encoded_bytes().starts_with(b"-") {
            stale.push(source.path());
        }
    }
    for folder in stale.iter().filter(|folder| folder.exists()) {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

/// Wants two releases to be equal, byte by byte.
pub fn same_bytes(first: &[PathBuf], second: &[PathBuf]) -> anyhow::Result<()> {
    for (one, other) in first.iter().zip(second) {
        if fs::read(one)? != fs::read(other)? {
            bail!("{} and {} differ", one.display(), other.display());
        }
    }
    println!("xtask: two builds have the same bytes");
    Ok(())
}

/// Runs the program of each package on a system that contains nothing else: no library, no shell.
pub fn all_run(made: &[PathBuf]) -> anyhow::Result<()> {
    let folder = made.first().and_then(|path| path.parent()).context("nothing was made")?;
    let system = folder.join("system");
    for path in made {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let program = match name.as_str() {
            name if name.ends_with(".tar.gz") => {
                unpack(path, &system)?;
                let program = format!("{}/usr/bin/furlong", name.trim_end_matches(".tar.gz"));
                names_no_folder(&system.join(&program))?;
                format!("/{program}")
            }
            name if name.ends_with("_all.deb") => {
                compiles(path, &system)?;
                println!("xtask: {name} has the driver's source, which compiles");
                continue;
            }
            name if name.ends_with(".deb") => {
                fs::create_dir_all(&system)?;
                step::output(Command::new("dpkg-deb").arg("--extract").arg(path).arg(&system))?;
                "/usr/bin/furlong".to_owned()
            }
            name if name.ends_with("-oci.tar") => {
                unpack(&layer_of(path, &folder.join("image"))?, &system)?;
                fs::remove_dir_all(folder.join("image"))?;
                "/usr/bin/furlong".to_owned()
            }
            name if name.ends_with(".whl") => {
                let platform = Platform::from_file_name(name);
                super::wheel::check(platform, path, &folder.join("python"))?;
                let how = platform.how();
                println!("xtask: {name} is installed, and its module's tests pass{how}");
                continue;
            }
            name if name.ends_with(".cdx.json") => {
                names_no_folder(path)?;
                continue;
            }
            _ => continue,
        };
        let platform = Platform::from_file_name(&name);
        let documents = program.trim_start_matches('/').replace("usr/bin/furlong", DOCUMENTS);
        licences::check(platform, &system.join(documents)).with_context(|| name.clone())?;
        let ran = run_alone(platform, &system, &program);
        fs::remove_dir_all(&system)?;
        ran.with_context(|| name.clone())?;
        let how = platform.how();
        println!("xtask: {name} has its licences, and measures in a root directory without other files{how}");
    }
    Ok(())
}

/// Compiles the driver as DKMS does, for the kernel of Debian that the driver is tested with.
fn compiles(package: &Path, system: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(system)?;
    step::output(Command::new("dpkg-deb").arg("--extract").arg(package).arg(system))?;
    let version = env!("CARGO_PKG_VERSION");
    let source = system.join(format!("usr/src/furlong-{version}"));
    let (_, headers) = headers()?;
    step::output(Command::new("make").arg("-C").arg(&source).arg(format!("KDIR={}", headers.display())))?;
    ensure!(source.join("furlong.ko").is_file(), "make succeeded but did not create furlong.ko");
    fs::remove_dir_all(system)?;
    Ok(())
}

/// Checks that a file does not contain the path of its build directory.
fn names_no_folder(file: &Path) -> anyhow::Result<()> {
    let folder = crate::root();
    let folder = folder.as_os_str().as_encoded_bytes();
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    if bytes.windows(folder.len()).any(|part| part == folder) {
        bail!("{} contains the path of its build directory", file.display());
    }
    Ok(())
}

fn unpack(archive: &Path, into: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(into)?;
    step::output(Command::new("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(into))
        .map(drop)
}

/// Returns the layer of an image, found through its index and manifest as a container runtime does.
fn layer_of(image: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    unpack(image, folder)?;
    let read = |path: PathBuf| -> anyhow::Result<serde_json::Value> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    };
    let blob = |digest: &serde_json::Value| -> anyhow::Result<PathBuf> {
        let digest = digest.as_str().and_then(|text| text.strip_prefix("sha256:")).context("no digest")?;
        Ok(folder.join("blobs/sha256").join(digest))
    };
    let index = read(folder.join("index.json"))?;
    let manifest = read(blob(&index["manifests"][0]["digest"])?)?;
    blob(&manifest["layers"][0]["digest"])
}

/// Measures in a separate root that contains only kernel file systems.
fn run_alone(platform: Platform, system: &Path, program: &str) -> anyhow::Result<()> {
    let (namespaces, emulation) = platform.emulation();
    let script = format!(
        "set -e\n\
         {emulation}\n\
         cd \"$1\"\n\
         mkdir -p proc dev/shm tmp\n\
         mount -t proc proc proc\n\
         mount -t tmpfs none dev/shm\n\
         touch dev/null\n\
         mount --bind /dev/null dev/null\n\
         exec env -i HOME=/tmp TMPDIR=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . {program} {MEASURES}"
    );
    let mut command = Command::new("unshare");
    command.args(namespaces);
    command.args(["--pid", "--fork", "--kill-child", "sh", "-c", &script, "sh"]).arg(system);
    let said = step::output(&mut command)?;
    let said = String::from_utf8_lossy(&said.stdout);
    for row in ["pipe/block", "unix-stream/block", "posix-shm/futex", "posix-mq/block"] {
        if !said.contains(row) {
            bail!("{row} was not measured:\n{said}");
        }
    }
    Ok(())
}
