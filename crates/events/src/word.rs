//! Enums whose variants have one name each, in text and in JSON.

/// A word that is none of those allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is none of {}", known.join(", "))]
pub struct UnknownWord {
    /// What was given.
    pub word: String,
    /// What would have been right.
    pub known: Vec<&'static str>,
}

/// Defines an enum whose variants have one name each, in text and in JSON.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its one name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::word::UnknownWord;

            fn from_str(word: &str) -> Result<Self, $crate::word::UnknownWord> {
                let known = || Self::ALL.iter().map(|one| one.name()).collect();
                Self::ALL.iter().copied().find(|one| one.name() == word)
                    .ok_or_else(|| $crate::word::UnknownWord { word: word.to_owned(), known: known() })
            }
        }
    };
}

pub(crate) use words;
