//! `queryscope-torture`: see `--help` and docs/reliability.md.

fn main() -> std::process::ExitCode {
    queryscope_torture::main()
}
