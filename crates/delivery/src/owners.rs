//! Owners of queries, in the order of CODEOWNERS: the last rule that matches counts.

use globset::{Glob, GlobBuilder, GlobMatcher};

/// What a rule of owners looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Of {
    Label,
    Path,
}

/// A rule: who owns the queries that a pattern matches.
#[derive(Debug, Clone)]
pub struct OwnerRule {
    of: Of,
    glob: GlobMatcher,
    owner: String,
}

/// All rules, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Owners(Vec<OwnerRule>);

/// A pattern: `*` and `?` do not match `/`, `**` does.
///
/// # Errors
/// When it is none.
pub(crate) fn glob(pattern: &str) -> Result<Glob, String> {
    if pattern.is_empty() {
        return Err("it is empty: expected a pattern, like orders/**".into());
    }
    let built = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
    built.map_err(|error| format!("{pattern:?} is no pattern: {}", error.kind()))
}

impl OwnerRule {
    /// A rule for labels, or for paths of the code that runs queries.
    ///
    /// # Errors
    /// When the pattern is none.
    pub(crate) fn new(is_path: bool, pattern: &str, owner: &str) -> Result<Self, String> {
        let of = if is_path { Of::Path } else { Of::Label };
        Ok(Self { of, glob: glob(pattern)?.compile_matcher(), owner: owner.into() })
    }

    fn matches(&self, label: &str, path: Option<&str>) -> bool {
        match self.of {
            Of::Label => self.glob.is_match(label),
            Of::Path => path.is_some_and(|path| self.matches_path(path)),
        }
    }

    /// A pattern that does not begin with `/` may begin at any folder, as in CODEOWNERS.
    fn matches_path(&self, path: &str) -> bool {
        let is_anchored = self.glob.glob().glob().starts_with('/');
        let tails = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
        self.glob.is_match(path) || (!is_anchored && tails.into_iter().any(|tail| self.glob.is_match(tail)))
    }

    /// `label` or `path`.
    pub fn looks_at(&self) -> &'static str {
        if self.of == Of::Path { "path" } else { "label" }
    }

    /// The pattern.
    pub fn pattern(&self) -> &str {
        self.glob.glob().glob()
    }

    /// The owner.
    pub fn owner(&self) -> &str {
        &self.owner
    }
}

impl Owners {
    pub(crate) fn new(rules: Vec<OwnerRule>) -> Self {
        Self(rules)
    }

    /// The rules, in the order of the file.
    pub fn rules(&self) -> &[OwnerRule] {
        &self.0
    }

    /// Whether a rule looks at labels.
    pub fn look_at_labels(&self) -> bool {
        self.0.iter().any(|rule| rule.of == Of::Label)
    }

    /// The owner of a query by its label and the path of the code that runs it; `None` where no rule matches.
    pub fn of(&self, label: &str, path: Option<&str>) -> Option<&str> {
        self.0.iter().rev().find(|rule| rule.matches(label, path)).map(OwnerRule::owner)
    }

    /// The owners, each once, in alphabetical order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.0.iter().map(OwnerRule::owner).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners(rules: &[(bool, &str, &str)]) -> Owners {
        let rule = |(is_path, pattern, owner): &(bool, &str, &str)| OwnerRule::new(*is_path, pattern, owner);
        Owners::new(rules.iter().map(rule).collect::<Result<_, _>>().expect("rules"))
    }

    #[test]
    fn the_last_rule_that_matches_counts() {
        let owners = owners(&[
            (false, "**", "everyone"),
            (false, "orders/**", "orders"),
            (false, "orders/daily", "ada"),
            (false, "*/tmp", "nobody"),
        ]);
        let of = |label| owners.of(label, None);
        assert_eq!(of("users/x"), Some("everyone"));
        assert_eq!(of("orders/a/b"), Some("orders"));
        assert_eq!(of("orders/daily"), Some("ada"));
        assert_eq!((of("orders/tmp"), of("orders/a/tmp")), (Some("nobody"), Some("orders")));
        assert_eq!(owners.names(), ["ada", "everyone", "nobody", "orders"]);
        assert_eq!(Owners::default().of("x", None), None);
    }

    #[test]
    fn a_star_ends_at_a_slash_and_signs_are_matched_as_they_are() {
        let is = |pattern, label| owners(&[(false, pattern, "x")]).of(label, None).is_some();
        assert!(
            is("orders/*", "orders/daily") && !is("orders/*", "orders/a/b") && is("orders/**", "orders/a/b")
        );
        assert!(is("täglich ?", "täglich x") && !is("?", "/") && is("{a,b}/*", "b/c") && is("[a-c]x", "bx"));
        assert!(is(r"a\*", "a*") && !is(r"a\*", "ab"));
        assert!(OwnerRule::new(false, "[a", "x").is_err_and(|error| error.contains("\"[a\" is no pattern")));
    }

    #[test]
    fn a_path_may_begin_at_any_folder_unless_it_is_anchored() {
        let rules = [(true, "jobs/*.py", "jobs"), (true, "/srv/etl/**", "etl"), (false, "x", "label")];
        let owners = owners(&rules);
        assert_eq!(owners.of("y", Some("/home/me/jobs/daily.py")), Some("jobs"));
        assert_eq!(owners.of("y", Some("jobs/daily.py")), Some("jobs"));
        assert_eq!(owners.of("y", Some("/srv/etl/jobs/daily.py")), Some("etl"));
        assert_eq!(owners.of("y", Some("/mnt/srv/etl/daily.py")), None);
        assert_eq!(owners.of("y", None), None);
        assert_eq!(owners.of("x", Some("jobs/daily.py")), Some("label"));
        assert!(owners.look_at_labels() && !Owners::new(owners.0[..2].to_vec()).look_at_labels());
    }
}
