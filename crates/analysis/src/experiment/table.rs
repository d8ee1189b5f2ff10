//! Reads TOML tables into structs. Code that serde derives for them would be 0.7 MB of machine code.

use serde::Deserialize;
use serde::de::Error as _;
use toml::de::{DeTable, DeValue, Error, ValueDeserializer};
use toml::{Spanned, Value};

/// Text and its place.
pub(super) type Text = Spanned<String>;
/// The byte at which a file is wrong, and the reason.
pub(super) type WrongByte = (usize, String);

/// A type of the values of keys.
pub(super) trait ReadValue: Sized {
    fn read(value: Spanned<DeValue>) -> Result<Self, WrongByte>;

    /// Returns the value of a key that is left out, if it may be.
    fn absent() -> Option<Self> {
        None
    }
}

macro_rules! read_by_serde {
    ($($kind:ty),*) => {$(impl ReadValue for $kind {
        fn read(value: Spanned<DeValue>) -> Result<Self, WrongByte> {
            let at = value.span().start;
            <$kind>::deserialize(ValueDeserializer::from(value)).map_err(|error| (at, error.message().to_owned()))
        }
    })*};
}
read_by_serde!(String, bool, i64, f64, Value);

impl<T: ReadValue> ReadValue for Spanned<T> {
    fn read(value: Spanned<DeValue>) -> Result<Self, WrongByte> {
        Ok(Spanned::new(value.span(), T::read(value)?))
    }
}

impl<T: ReadValue> ReadValue for Option<T> {
    fn read(value: Spanned<DeValue>) -> Result<Self, WrongByte> {
        T::read(value).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: ReadValue> ReadValue for Vec<T> {
    fn read(value: Spanned<DeValue>) -> Result<Self, WrongByte> {
        let at = value.span().start;
        match value.into_inner() {
            DeValue::Array(list) => list.into_iter().map(T::read).collect(),
            other => Err((at, format!("invalid type: {}, expected an array", other.type_str()))),
        }
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

/// The entries of a table with any keys.
impl<T: ReadValue> ReadValue for Vec<(Text, T)> {
    fn read(value: Spanned<DeValue>) -> Result<Self, WrongByte> {
        let entries = Table::read(value)?.entries.into_iter();
        let entry = |(key, value): (Spanned<_>, _)| {
            Ok((Spanned::new(key.span(), String::from(key.into_inner())), T::read(value)?))
        };
        entries.map(entry).collect()
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

/// A table whose keys are taken one by one.
pub(super) struct Table<'a> {
    at: usize,
    entries: DeTable<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Spanned<DeValue<'a>>, WrongByte> {
        let read = DeTable::parse(text);
        read.map(|table| Spanned::new(table.span(), DeValue::Table(table.into_inner())))
            .map_err(|error| (error.span().map_or(0, |span| span.start), error.message().to_owned()))
    }

    pub(super) fn read(value: Spanned<DeValue<'a>>) -> Result<Self, WrongByte> {
        let at = value.span().start;
        match value.into_inner() {
            DeValue::Table(entries) => Ok(Table { at, entries }),
            other => Err((at, format!("invalid type: {}, expected a table", other.type_str()))),
        }
    }

    /// Rejects keys that are not in this list.
    pub(super) fn only(self, known: &'static [&'static str]) -> Result<Self, WrongByte> {
        let unknown = self.entries.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        unknown.map_or(Ok(()), |key| wrong(key.span().start, Error::unknown_field(key.get_ref(), known)))?;
        Ok(self)
    }

    /// Accepts an old name of a key.
    pub(super) fn rename(&mut self, old: &str, key: &'static str) -> Result<(), WrongByte> {
        let Some(value) = self.entries.remove(old) else { return Ok(()) };
        let at = value.span().start;
        let twice = self.entries.insert(Spanned::new(value.span(), key.into()), value);
        twice.map_or(Ok(()), |_| wrong(at, Error::duplicate_field(key)))
    }

    pub(super) fn take<T: ReadValue>(&mut self, key: &'static str) -> Result<T, WrongByte> {
        let value = self.entries.remove(key);
        value.map_or_else(
            || T::absent().map_or_else(|| wrong(self.at, Error::missing_field(key)), Ok),
            T::read,
        )
    }
}

fn wrong<T>(at: usize, error: Error) -> Result<T, WrongByte> {
    Err((at, error.message().to_owned()))
}

/// Defines structs that are read from tables: each field is a key, and other keys are errors.
macro_rules! tables {
    ($(
        $(#[doc = $doc:literal])*
        pub(super) struct $name:ident { $($(#[alias($old:literal)])? pub $field:ident: $kind:ty,)* }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug)]
        pub(super) struct $name { $(pub $field: $kind,)* }

        impl ReadValue for $name {
            fn read(value: Spanned<DeValue>) -> Result<Self, WrongByte> {
                let mut table = Table::read(value)?.only(&[$(stringify!($field), $($old,)?)*])?;
                $($(table.rename($old, stringify!($field))?;)?)*
                Ok($name { $($field: table.take(stringify!($field))?,)* })
            }
        }
    )*};
}
pub(super) use tables;
