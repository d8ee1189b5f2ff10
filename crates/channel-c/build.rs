//! Sets the SONAME of the shared library: the version up to the number whose change may break programs.

fn main() {
    let number = |name| std::env::var(name).unwrap_or_default();
    let major = number("CARGO_PKG_VERSION_MAJOR");
    let version = if major == "0" { format!("0.{}", number("CARGO_PKG_VERSION_MINOR")) } else { major };
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libfurlong_channel.so.{version}");
    println!("cargo::rerun-if-changed=build.rs");
}
