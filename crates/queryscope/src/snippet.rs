//! What a user pastes to send from Python.

use std::path::Path;

/// The wheel, as `make wheel` leaves it in the repository: the package is on no index.
const WHEEL: &str = "target/wheels/queryscope-*.whl";

/// How to install what [`program`] imports.
///
/// A program that pip installed stands in the environment that has the package, too.
pub(crate) fn install(program: Option<&Path>) -> String {
    if program.is_some_and(is_in_environment) {
        "pip install polars    # beside this service, where the package queryscope is".into()
    } else {
        format!("make wheel && pip install polars {WHEEL}    # in the repository's folder")
    }
}

/// A program whose queries the service follows, with one that runs for some seconds.
pub(crate) fn program(url: &str, token: &str) -> String {
    format!(
        "\
import polars as pl
import queryscope

queryscope.install(
    \"{url}\",
    token=\"{token}\",
    service=\"my-service\",
    environment=\"dev\",
)

with queryscope.label(\"first-query\"):
    n = pl.LazyFrame({{\"n\": range(40_000)}})
    n.join(n, how=\"cross\").group_by(pl.col(\"n\") * pl.col(\"n_right\") % 7).len().collect()
"
    )
}

/// Whether the folder of the program belongs to a Python environment that has the package.
fn is_in_environment(program: &Path) -> bool {
    let Some(prefix) = program.parent().and_then(Path::parent) else { return false };
    let of_versions = std::fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
    let libraries = of_versions.map(|entry| entry.path()).chain([prefix.join("Lib")]);
    libraries
        .flat_map(|library| ["site-packages", "dist-packages"].map(|packages| library.join(packages)))
        .any(|packages| packages.join("queryscope/py.typed").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pip_has_installed_is_not_installed_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("bin/queryscope");
        let package = folder.path().join("lib/python3.12/site-packages/queryscope");
        std::fs::create_dir_all(&package).expect("a package");
        let with_wheel =
            "make wheel && pip install polars target/wheels/queryscope-*.whl    # in the repository's folder";
        assert_eq!(install(Some(&program)), with_wheel);
        assert_eq!(install(None), with_wheel);
        std::fs::write(package.join("py.typed"), "").expect("written");
        assert!(install(Some(&program)).starts_with("pip install polars    # beside this service"));
    }

    #[test]
    fn the_program_holds_address_and_token() {
        let program = program("http://127.0.0.1:7766", "qs_1");
        assert!(program.contains("    \"http://127.0.0.1:7766\",\n    token=\"qs_1\",\n"), "{program}");
    }
}
