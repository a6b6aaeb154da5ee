//! Ids of what callers hold: each kind has a type of its own, so that none passes for another.
//!
//! Imports: nothing of this crate.

/// Defines an id: the index of something in a slab. It may stand for something else once that is forgotten.
macro_rules! id {
    ($(#[$doc:meta])* $vis:vis $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name(u32);

        impl $name {
            /// The id as a number, as it crosses to JavaScript.
            #[inline]
            $vis const fn number(self) -> u32 {
                self.0
            }

            /// The id of an index in a slab. No slab has as many as 32 bits can count, so the last one stands for nothing.
            #[inline]
            #[allow(clippy::cast_possible_truncation)]
            pub(crate) const fn of(index: usize) -> Self {
                Self(if index < u32::MAX as usize { index as u32 } else { u32::MAX })
            }

            /// Its index in the slab.
            #[inline]
            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $name {
            /// A number that came back from JavaScript. It may stand for nothing.
            #[inline]
            fn from(number: u32) -> Self {
                Self(number)
            }
        }
    };
}

pub(crate) use id;

#[cfg(test)]
mod tests {
    id!(
        /// Of a thing.
        ThingId
    );

    #[test]
    fn an_id_is_the_number_of_its_index() {
        assert_eq!(ThingId::of(7), ThingId::from(7));
        assert_eq!((ThingId::of(7).number(), ThingId::from(7).index()), (7, 7));
        assert_eq!(ThingId::of(usize::MAX).number(), u32::MAX, "it stands for nothing");
    }
}
