//! Ends and adapters that tell where items are.

macro_rules! position {
    () => {
        /// The index of some item that `predicate` wants, the one that is found first in time.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let at = (10..99).into_par_iter().position_any(|n| n % 7 == 6);
        /// assert_eq!(at.map(|index| (index + 10) % 7), Some(6));
        /// ```
        fn position_any<P>(self, predicate: P) -> Option<usize>
        where
            P: Fn(Self::Item) -> bool + Sync + Send,
        {
            self.map(predicate).enumerate().find_any(|(_, is)| *is).map(|(index, _)| index)
        }

        /// The index of the first item that `predicate` wants.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((10..99).into_par_iter().position_first(|n| n % 7 == 6), Some(3));
        /// ```
        fn position_first<P>(self, predicate: P) -> Option<usize>
        where
            P: Fn(Self::Item) -> bool + Sync + Send,
        {
            self.map(predicate).enumerate().find_first(|(_, is)| *is).map(|(index, _)| index)
        }

        /// The index of the last item that `predicate` wants.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((10..99).into_par_iter().position_last(|n| n % 7 == 6), Some(87));
        /// ```
        fn position_last<P>(self, predicate: P) -> Option<usize>
        where
            P: Fn(Self::Item) -> bool + Sync + Send,
        {
            self.map(predicate).enumerate().find_last(|(_, is)| *is).map(|(index, _)| index)
        }

        /// The indices of all items that `predicate` wants.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let dashes: Vec<_> = b"a-b-".par_iter().positions(|byte| *byte == b'-').collect();
        /// assert_eq!(dashes, [1, 3]);
        /// ```
        fn positions<P>(self, predicate: P) -> Positions<Self, P>
        where
            P: Fn(Self::Item) -> bool + Sync + Send,
        {
            Positions::new(self, predicate)
        }
    };
}
pub(crate) use position;
