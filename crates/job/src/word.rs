//! Enums whose variants have one name each in the document.

/// A set of words that a field takes.
pub(crate) trait Word: Copy + 'static {
    /// Each of them and its name.
    const ALL: &'static [(Self, &'static str)];

    /// The one with a name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(word, _)| *word)
    }
}

/// Defines an enum whose variants have one name each in the document.
macro_rules! words {
    ($(#[$doc:meta])* $vis:vis $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            pub(crate) const NAMES: &'static [&'static str] = &[$($word),*];

            /// Its name in the document.
            $vis const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl $crate::word::Word for $name {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $word)),*];
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use words;
