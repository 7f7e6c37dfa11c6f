//! Objects of the format: a table of members and their rules.

/// Makes a rule of an object: its required and optional members with their rules, the rule of all other members, and
/// what is kept. A member that is named here may be there once; an optional member may be null where its rule says so.
/// Of other members, the names and values of those are kept that a function wants.
macro_rules! object {
    (
        $(#[$doc:meta])*
        $rule:ident as $allowed:literal -> $value:ty {
            required { $($required:ident: $required_rule:ty,)* }
            optional { $($optional:ident: $optional_rule:ty,)* }
            others: $others_rule:ty $(, $kept:ident where $wanted:path)?,
        }
        keeps $keeps:expr
    ) => {
        $(#[$doc])*
        pub(crate) struct $rule;

        impl<'de> $crate::check::Rule<'de> for $rule {
            type Value = $value;
            const ALLOWED: $crate::check::Allowed = $crate::check::Allowed::new($allowed);

            fn read(cursor: &mut $crate::check::Cursor<'de>) -> Result<$value, $crate::check::Stop> {
                use $crate::check::{Stop, expect};
                use $crate::error::Step;

                if !cursor.takes(b'{') {
                    return Err(Stop);
                }
                $(let mut $required = None;)*
                $(let mut $optional = None;)*
                $(let mut $kept: Vec<(std::borrow::Cow<'de, str>, &'de str)> = Vec::new();)?
                let mut goes_on = !cursor.takes(b'}');
                while goes_on {
                    let name = cursor.name()?;
                    $(if *name == *stringify!($required) {
                        if $required.is_some() {
                            return Err(cursor.repeated(&name));
                        }
                        let value = expect::<$required_rule>(cursor);
                        $required = Some(value.inspect_err(|_| cursor.step(Step::member(&name)))?);
                    } else)* $(if *name == *stringify!($optional) {
                        if $optional.is_some() {
                            return Err(cursor.repeated(&name));
                        }
                        let value = expect::<$optional_rule>(cursor);
                        $optional = Some(value.inspect_err(|_| cursor.step(Step::member(&name)))?);
                    } else)* {
                        $(let (before, is_wanted) = (cursor.rest(), $wanted(&name));)?
                        let value = expect::<$others_rule>(cursor);
                        value.inspect_err(|_| cursor.step(Step::member(&name)))?;
                        $(if is_wanted {
                            let after = cursor.rest().len();
                            $kept.push((name, &before[..before.len() - after]));
                        })?
                    }
                    goes_on = cursor.goes_on(b'}')?;
                }
                $(let Some($required) = $required else {
                    return Err(cursor.missing(stringify!($required)));
                };)*
                let _ = ($(&$required,)* $(&$optional,)*);
                Ok($keeps)
            }
        }
    };
}
pub(crate) use object;
