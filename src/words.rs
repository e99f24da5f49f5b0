//! Closed vocabularies: enums whose variants are stored, printed and documented as words.
//!
//! A word that was once written into a snapshot is a public contract, so each vocabulary is one small table: the
//! variant, its word, its sentence. Columns, help and the data dictionary take both from here.
//!
//! Touches nothing. Deliberately absent: parsing of words into anything but their own enum, and any order among
//! vocabularies.

/// Defines a closed vocabulary: an enum with one stored word and one sentence of documentation per variant.
///
/// ```
/// survey::words! {
///     /// How a door stands.
///     pub enum Door {
///         /// Anybody may enter.
///         Open = "open",
///         /// Nobody may enter.
///         Shut = "shut",
///     }
/// }
/// assert_eq!(Door::Shut.word(), "shut");
/// assert_eq!(Door::from_word("open"), Some(Door::Open));
/// assert_eq!(Door::Open.doc(), "Anybody may enter.");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl $name {
            /// Every variant, in the order of the table.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The stored word.
            pub const fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }

            /// What the word means, in one or two sentences.
            pub const fn doc(self) -> &'static str {
                match self { $( Self::$variant => const { concat!($($doc),+).trim_ascii() }, )+ }
            }

            /// The variant with this stored word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $( $word => Some(Self::$variant), )+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.word())
            }
        }
    };
}
