//! Enums whose values have names that are equal in options, experiments and records.

/// Defines such an enum from its names, with `ALL` values in this order, `name`, `Display` and the serde forms. With a
/// noun for its values, it also has `FromStr`.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$attribute:meta])*
        $name:ident $(, $what:literal)? { $($(#[$variant_attribute:meta])* $variant:ident = $word:literal,)* }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_attribute])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All values, in the order of tables.
            pub const ALL: [$name; [$($name::$variant,)*].len()] = [$($name::$variant,)*];

            /// Returns the name in options, experiments and records.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        $(impl ::std::str::FromStr for $name {
            type Err = $crate::InvalidName;

            fn from_str(text: &str) -> Result<Self, $crate::InvalidName> {
                let found = $name::ALL.into_iter().find(|one| one.name() == text);
                found.ok_or_else(|| $crate::InvalidName::new($what, text, $name::ALL.map($name::name)))
            }
        })?
    };
}

pub(crate) use named_enum;
