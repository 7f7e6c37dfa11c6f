//! Objects of the format: a table of members and their rules.

/// Makes a rule of an object: its required and optional members with their rules, the rule of all other members, and
/// what is kept. A member that is named here may be there once; an optional member may be null where its rule says so.
/// Other members go into a value by a function.
macro_rules! object {
    (
        $(#[$doc:meta])*
        $rule:ident as $allowed:literal -> $value:ty {
            required { $($required:ident: $required_rule:ty,)* }
            optional { $($optional:ident: $optional_rule:ty,)* }
            others: $others_rule:ty $(, $fold:path => $folded:ident: $folded_type:ty)?,
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
                $(let mut $folded = <$folded_type>::default();)?
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
                        let value = expect::<$others_rule>(cursor);
                        let _value = value.inspect_err(|_| cursor.step(Step::member(&name)))?;
                        $($fold(&mut $folded, name, _value);)?
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
