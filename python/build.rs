//! On a Mac the linker takes symbols that nobody has for an error unless told otherwise. The interpreter that loads the
//! extension has them. maturin tells the linker by itself; this is for `cargo build` and `cargo test`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos") {
        println!("cargo::rustc-link-arg=-undefined");
        println!("cargo::rustc-link-arg=dynamic_lookup");
    }
}
