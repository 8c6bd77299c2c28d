//! Calling a function with each item.

macro_rules! for_each {
    () => {
        /// Calls `op` with each item.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let mut numbers = [1, 2, 3];
        /// numbers.par_iter_mut().for_each(|n| *n *= 10);
        /// assert_eq!(numbers, [10, 20, 30]);
        /// ```
        fn for_each<OP>(self, op: OP)
        where
            OP: Fn(Self::Item) + Sync + Send,
        {
            for_each::for_each(self, &op);
        }

        /// Calls `op` with a clone of `init` and each item. A piece has one clone.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let (sender, receiver) = std::sync::mpsc::channel();
        /// (0..5).into_par_iter().for_each_with(sender, |sender, n| sender.send(n).unwrap());
        /// assert_eq!(receiver.iter().sum::<i32>(), 10);
        /// ```
        fn for_each_with<OP, T>(self, init: T, op: OP)
        where
            OP: Fn(&mut T, Self::Item) + Sync + Send,
            T: Send + Clone,
        {
            for_each::ignore(self.map_with(init, op));
        }

        /// Calls `op` with a value of `init` and each item. A piece has one value.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// (0..5).into_par_iter().for_each_init(String::new, |line, n| {
        ///     line.clear();
        ///     line.push_str(&n.to_string());
        ///     assert_eq!(line.len(), 1);
        /// });
        /// ```
        fn for_each_init<OP, INIT, T>(self, init: INIT, op: OP)
        where
            OP: Fn(&mut T, Self::Item) + Sync + Send,
            INIT: Fn() -> T + Sync + Send,
        {
            for_each::ignore(self.map_init(init, op));
        }

        /// Calls `op` with each item until a call returns `Err` or `None`. Returns one of these.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let small = |n| if n < 5 { Ok(()) } else { Err(n) };
        /// assert_eq!((0..5).into_par_iter().try_for_each(small), Ok(()));
        /// assert_eq!((0..6).into_par_iter().try_for_each(small), Err(5));
        /// ```
        fn try_for_each<OP, R>(self, op: OP) -> R
        where
            OP: Fn(Self::Item) -> R + Sync + Send,
            R: Try<Output = ()> + Send,
        {
            self.map(op).try_reduce(|| (), |(), ()| R::from_output(()))
        }

        /// [`try_for_each`](Self::try_for_each) with a clone of `init` for each piece.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let (sender, receiver) = std::sync::mpsc::channel();
        /// let sent = (0..5).into_par_iter().try_for_each_with(sender, |s, n| s.send(n));
        /// assert!(sent.is_ok());
        /// assert_eq!(receiver.iter().count(), 5);
        /// ```
        fn try_for_each_with<OP, T, R>(self, init: T, op: OP) -> R
        where
            OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
            T: Send + Clone,
            R: Try<Output = ()> + Send,
        {
            self.map_with(init, op).try_reduce(|| (), |(), ()| R::from_output(()))
        }

        /// [`try_for_each`](Self::try_for_each) with a value of `init` for each piece.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let odd = (0..5).into_par_iter().try_for_each_init(|| 1, |mask, n: i32| {
        ///     (n & *mask == 0).then_some(())
        /// });
        /// assert_eq!(odd, None);
        /// ```
        fn try_for_each_init<OP, INIT, T, R>(self, init: INIT, op: OP) -> R
        where
            OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
            INIT: Fn() -> T + Sync + Send,
            R: Try<Output = ()> + Send,
        {
            self.map_init(init, op).try_reduce(|| (), |(), ()| R::from_output(()))
        }
    };
}
pub(crate) use for_each;
