//! `queryscope-torture`: see `--help` and docs/internals/reliability.md.

fn main() -> std::process::ExitCode {
    queryscope_torture::main()
}
