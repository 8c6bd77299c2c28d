//! How each public generic type varies with its parameters, and which threads may have it.
//!
//! A source of references to items is as covariant, `Send` and `Sync` as they are; an iterator that
//! changes items, or takes them out of a collection, is invariant. A new type needs a row in both
//! tables.
#![cfg(not(loom))]

mod variance {
    use sateen_iter::collections::*;
    use sateen_iter::{
        array, iter, option, range, range_inclusive, result, slice, str, string, vec,
    };

    sateen_testkit::variance! {
        covariant Chain<T> = iter::Chain<T, T>;
        covariant Zip<T> = iter::Zip<T, T>;
        covariant ZipEq<T> = iter::ZipEq<T, T>;
        covariant Interleave<T> = iter::Interleave<T, T>;
        covariant InterleaveShortest<T> = iter::InterleaveShortest<T, T>;
        covariant Map<T> = iter::Map<T, T>;
        covariant Filter<T> = iter::Filter<T, T>;
        covariant FilterMap<T> = iter::FilterMap<T, T>;
        covariant FlatMap<T> = iter::FlatMap<T, T>;
        covariant FlatMapIter<T> = iter::FlatMapIter<T, T>;
        covariant Inspect<T> = iter::Inspect<T, T>;
        covariant Update<T> = iter::Update<T, T>;
        covariant Positions<T> = iter::Positions<T, T>;
        covariant TakeAnyWhile<T> = iter::TakeAnyWhile<T, T>;
        covariant SkipAnyWhile<T> = iter::SkipAnyWhile<T, T>;
        covariant Chunks<T> = iter::Chunks<T>;
        covariant Copied<T> = iter::Copied<T>;
        covariant Cloned<T> = iter::Cloned<T>;
        covariant Enumerate<T> = iter::Enumerate<T>;
        covariant Flatten<T> = iter::Flatten<T>;
        covariant FlattenIter<T> = iter::FlattenIter<T>;
        covariant Rev<T> = iter::Rev<T>;
        covariant Skip<T> = iter::Skip<T>;
        covariant Take<T> = iter::Take<T>;
        covariant StepBy<T> = iter::StepBy<T>;
        covariant MinLen<T> = iter::MinLen<T>;
        covariant MaxLen<T> = iter::MaxLen<T>;
        covariant PanicFuse<T> = iter::PanicFuse<T>;
        covariant WhileSome<T> = iter::WhileSome<T>;
        covariant TakeAny<T> = iter::TakeAny<T>;
        covariant SkipAny<T> = iter::SkipAny<T>;
        covariant ExponentialBlocks<T> = iter::ExponentialBlocks<T>;
        covariant UniformBlocks<T> = iter::UniformBlocks<T>;
        covariant IterBridge<T> = iter::IterBridge<T>;
        covariant MultiZip<T> = iter::MultiZip<T>;
        covariant Empty<T> = iter::Empty<T>;
        covariant Once<T> = iter::Once<T>;
        covariant RepeatN<T> = iter::RepeatN<T>;
        covariant Repeat<T> = iter::Repeat<T>;
        covariant Fold<T> = iter::Fold<T, T, T>;
        covariant FoldWith<T> = iter::FoldWith<T, T, T>;
        covariant FoldChunks<T> = iter::FoldChunks<T, T, T>;
        covariant FoldChunksWith<T> = iter::FoldChunksWith<T, T, T>;
        covariant MapWith<T> = iter::MapWith<T, T, T>;
        covariant MapInit<T> = iter::MapInit<T, T, T>;
        covariant Split<T> = iter::Split<T, T>;
        covariant WalkTree<T> = iter::WalkTree<T, T>;
        covariant WalkTreePrefix<T> = iter::WalkTreePrefix<T, T>;
        covariant WalkTreePostfix<T> = iter::WalkTreePostfix<T, T>;
        covariant TryFold<T> = iter::TryFold<T, (), T, T>;
        covariant TryFoldMakes<T> = iter::TryFold<u8, T, u8, u8>;
        covariant TryFoldWith<T> = iter::TryFoldWith<T, Option<()>, T>;
        invariant TryFoldWithItem<T> = sateen_iter::iter::TryFoldWith<u8, Option<T>, u8>;
        invariant Intersperse<T> = sateen_iter::iter::Intersperse<sateen_iter::option::IntoIter<T>>;
        covariant Either<T> = iter::Either<T, T>;
        covariant Array<T> = array::IntoIter<T, 2>;
        covariant Vector<T> = vec::IntoIter<T>;
        invariant VectorDrain<T> = sateen_iter::vec::Drain<'static, T>;
        covariant Range<T> = range::Iter<T>;
        covariant RangeInclusive<T> = range_inclusive::Iter<T>;
        covariant OptionItem<T> = option::IntoIter<T>;
        covariant OptionRef<T> = option::Iter<'static, T>;
        invariant OptionMut<T> = sateen_iter::option::IterMut<'static, T>;
        covariant ResultItem<T> = result::IntoIter<T>;
        covariant ResultRef<T> = result::Iter<'static, T>;
        invariant ResultMut<T> = sateen_iter::result::IterMut<'static, T>;
        covariant BinaryHeapIntoIter<T> = binary_heap::IntoIter<T>;
        covariant BinaryHeapIter<T> = binary_heap::Iter<'static, T>;
        covariant BinaryHeapDrain<T> = binary_heap::Drain<'static, T>;
        covariant BTreeMapIntoIter<T> = btree_map::IntoIter<T, T>;
        covariant BTreeMapIter<T> = btree_map::Iter<'static, T, T>;
        invariant BTreeMapIterMut<T> = sateen_iter::collections::btree_map::IterMut<'static, T, T>;
        covariant BTreeSetIntoIter<T> = btree_set::IntoIter<T>;
        covariant BTreeSetIter<T> = btree_set::Iter<'static, T>;
        covariant HashMapIntoIter<T> = hash_map::IntoIter<T, T>;
        covariant HashMapIter<T> = hash_map::Iter<'static, T, T>;
        invariant HashMapIterMut<T> = sateen_iter::collections::hash_map::IterMut<'static, T, T>;
        covariant HashMapDrain<T> = hash_map::Drain<'static, T, T>;
        covariant HashSetIntoIter<T> = hash_set::IntoIter<T>;
        covariant HashSetIter<T> = hash_set::Iter<'static, T>;
        covariant HashSetDrain<T> = hash_set::Drain<'static, T>;
        covariant LinkedListIntoIter<T> = linked_list::IntoIter<T>;
        covariant LinkedListIter<T> = linked_list::Iter<'static, T>;
        invariant LinkedListIterMut<T> = sateen_iter::collections::linked_list::IterMut<'static, T>;
        covariant VecDequeIntoIter<T> = vec_deque::IntoIter<T>;
        covariant VecDequeIter<T> = vec_deque::Iter<'static, T>;
        invariant VecDequeIterMut<T> = sateen_iter::collections::vec_deque::IterMut<'static, T>;
        invariant VecDequeDrain<T> = sateen_iter::collections::vec_deque::Drain<'static, T>;
        covariant SliceIter<T> = slice::Iter<'static, T>;
        invariant SliceIterMut<T> = sateen_iter::slice::IterMut<'static, T>;
        covariant SliceChunks<T> = slice::Chunks<'static, T>;
        covariant SliceChunksExact<T> = slice::ChunksExact<'static, T>;
        covariant SliceRChunks<T> = slice::RChunks<'static, T>;
        covariant SliceRChunksExact<T> = slice::RChunksExact<'static, T>;
        covariant SliceWindows<T> = slice::Windows<'static, T>;
        covariant ArrayWindows<T> = slice::ArrayWindows<'static, T, 2>;
        invariant SliceChunksMut<T> = sateen_iter::slice::ChunksMut<'static, T>;
        invariant SliceChunksExactMut<T> = sateen_iter::slice::ChunksExactMut<'static, T>;
        invariant SliceRChunksMut<T> = sateen_iter::slice::RChunksMut<'static, T>;
        invariant SliceRChunksExactMut<T> = sateen_iter::slice::RChunksExactMut<'static, T>;
        covariant SliceSplit<T> = slice::Split<'static, T, ()>;
        covariant SliceSplitInclusive<T> = slice::SplitInclusive<'static, T, ()>;
        covariant SliceChunkBy<T> = slice::ChunkBy<'static, T, ()>;
        invariant SliceSplitMut<T> = sateen_iter::slice::SplitMut<'static, T, ()>;
        invariant SliceSplitInclusiveMut<T> = sateen_iter::slice::SplitInclusiveMut<'static, T, ()>;
        invariant SliceChunkByMut<T> = sateen_iter::slice::ChunkByMut<'static, T, ()>;
        covariant TextChars<'a> = str::Chars<'a>;
        covariant TextCharIndices<'a> = str::CharIndices<'a>;
        covariant TextBytes<'a> = str::Bytes<'a>;
        covariant TextEncodeUtf16<'a> = str::EncodeUtf16<'a>;
        covariant TextLines<'a> = str::Lines<'a>;
        covariant TextSplitWhitespace<'a> = str::SplitWhitespace<'a>;
        covariant TextSplitAsciiWhitespace<'a> = str::SplitAsciiWhitespace<'a>;
        covariant TextSplit<T> = str::Split<'static, T>;
        covariant TextSplitInclusive<T> = str::SplitInclusive<'static, T>;
        covariant TextSplitTerminator<T> = str::SplitTerminator<'static, T>;
        covariant TextMatches<T> = str::Matches<'static, T>;
        covariant TextMatchIndices<T> = str::MatchIndices<'static, T>;
        covariant StringDrain<'a> = string::Drain<'a>;
    }
}

#[cfg(not(doctest))]
mod auto_traits {
    use sateen_iter::collections::*;
    use sateen_iter::{array, iter, option, range, range_inclusive, result, slice, str, vec};

    sateen_testkit::auto_traits! {
        Chain<T>: Send if Send, Sync if Sync = iter::Chain<T, T>;
        Zip<T>: Send if Send, Sync if Sync = iter::Zip<T, T>;
        ZipEq<T>: Send if Send, Sync if Sync = iter::ZipEq<T, T>;
        Interleave<T>: Send if Send, Sync if Sync = iter::Interleave<T, T>;
        InterleaveShortest<T>: Send if Send, Sync if Sync = iter::InterleaveShortest<T, T>;
        Map<T>: Send if Send, Sync if Sync = iter::Map<T, T>;
        Filter<T>: Send if Send, Sync if Sync = iter::Filter<T, T>;
        FilterMap<T>: Send if Send, Sync if Sync = iter::FilterMap<T, T>;
        FlatMap<T>: Send if Send, Sync if Sync = iter::FlatMap<T, T>;
        FlatMapIter<T>: Send if Send, Sync if Sync = iter::FlatMapIter<T, T>;
        Inspect<T>: Send if Send, Sync if Sync = iter::Inspect<T, T>;
        Update<T>: Send if Send, Sync if Sync = iter::Update<T, T>;
        Positions<T>: Send if Send, Sync if Sync = iter::Positions<T, T>;
        TakeAnyWhile<T>: Send if Send, Sync if Sync = iter::TakeAnyWhile<T, T>;
        SkipAnyWhile<T>: Send if Send, Sync if Sync = iter::SkipAnyWhile<T, T>;
        Chunks<T>: Send if Send, Sync if Sync = iter::Chunks<T>;
        Copied<T>: Send if Send, Sync if Sync = iter::Copied<T>;
        Cloned<T>: Send if Send, Sync if Sync = iter::Cloned<T>;
        Enumerate<T>: Send if Send, Sync if Sync = iter::Enumerate<T>;
        Flatten<T>: Send if Send, Sync if Sync = iter::Flatten<T>;
        FlattenIter<T>: Send if Send, Sync if Sync = iter::FlattenIter<T>;
        Rev<T>: Send if Send, Sync if Sync = iter::Rev<T>;
        Skip<T>: Send if Send, Sync if Sync = iter::Skip<T>;
        Take<T>: Send if Send, Sync if Sync = iter::Take<T>;
        StepBy<T>: Send if Send, Sync if Sync = iter::StepBy<T>;
        MinLen<T>: Send if Send, Sync if Sync = iter::MinLen<T>;
        MaxLen<T>: Send if Send, Sync if Sync = iter::MaxLen<T>;
        PanicFuse<T>: Send if Send, Sync if Sync = iter::PanicFuse<T>;
        WhileSome<T>: Send if Send, Sync if Sync = iter::WhileSome<T>;
        TakeAny<T>: Send if Send, Sync if Sync = iter::TakeAny<T>;
        SkipAny<T>: Send if Send, Sync if Sync = iter::SkipAny<T>;
        ExponentialBlocks<T>: Send if Send, Sync if Sync = iter::ExponentialBlocks<T>;
        UniformBlocks<T>: Send if Send, Sync if Sync = iter::UniformBlocks<T>;
        IterBridge<T>: Send if Send, Sync if Sync = iter::IterBridge<T>;
        MultiZip<T>: Send if Send, Sync if Sync = iter::MultiZip<T>;
        Empty<T>: Send if Send, Sync if Sync = iter::Empty<T>;
        Once<T>: Send if Send, Sync if Sync = iter::Once<T>;
        RepeatN<T>: Send if Send, Sync if Sync = iter::RepeatN<T>;
        Repeat<T>: Send if Send, Sync if Sync = iter::Repeat<T>;
        Fold<T>: Send if Send, Sync if Sync = iter::Fold<T, T, T>;
        FoldWith<T>: Send if Send, Sync if Sync = iter::FoldWith<T, T, T>;
        FoldChunks<T>: Send if Send, Sync if Sync = iter::FoldChunks<T, T, T>;
        FoldChunksWith<T>: Send if Send, Sync if Sync = iter::FoldChunksWith<T, T, T>;
        MapWith<T>: Send if Send, Sync if Sync = iter::MapWith<T, T, T>;
        MapInit<T>: Send if Send, Sync if Sync = iter::MapInit<T, T, T>;
        Split<T>: Send if Send, Sync if Sync = iter::Split<T, T>;
        WalkTree<T>: Send if Send, Sync if Sync = iter::WalkTree<T, T>;
        WalkTreePrefix<T>: Send if Send, Sync if Sync = iter::WalkTreePrefix<T, T>;
        WalkTreePostfix<T>: Send if Send, Sync if Sync = iter::WalkTreePostfix<T, T>;
        TryFold<T>: Send if Send, Sync if Sync = iter::TryFold<T, (), T, T>;
        TryFoldMakes<T>: Send if always, Sync if always = iter::TryFold<u8, T, u8, u8>;
        TryFoldWith<T>: Send if Send, Sync if Sync = iter::TryFoldWith<T, Option<()>, T>;
        TryFoldWithItem<T>: Send if Send, Sync if Sync = iter::TryFoldWith<u8, Option<T>, u8>;
        Either<T>: Send if Send, Sync if Sync = iter::Either<T, T>;
        Array<T>: Send if Send, Sync if Sync = array::IntoIter<T, 2>;
        Vector<T>: Send if Send, Sync if Sync = vec::IntoIter<T>;
        VectorDrain<T>: Send if Send, Sync if Sync = vec::Drain<'static, T>;
        Range<T>: Send if Send, Sync if Sync = range::Iter<T>;
        RangeInclusive<T>: Send if Send, Sync if Sync = range_inclusive::Iter<T>;
        OptionItem<T>: Send if Send, Sync if Sync = option::IntoIter<T>;
        OptionRef<T>: Send if Sync, Sync if Sync = option::Iter<'static, T>;
        OptionMut<T>: Send if Send, Sync if Sync = option::IterMut<'static, T>;
        ResultItem<T>: Send if Send, Sync if Sync = result::IntoIter<T>;
        ResultRef<T>: Send if Sync, Sync if Sync = result::Iter<'static, T>;
        ResultMut<T>: Send if Send, Sync if Sync = result::IterMut<'static, T>;
        BinaryHeapIntoIter<T>: Send if Send, Sync if Sync = binary_heap::IntoIter<T>;
        BinaryHeapIter<T>: Send if Sync, Sync if Sync = binary_heap::Iter<'static, T>;
        BinaryHeapDrain<T>: Send if Send, Sync if Sync = binary_heap::Drain<'static, T>;
        BTreeMapIntoIter<T>: Send if Send, Sync if Sync = btree_map::IntoIter<T, T>;
        BTreeMapIter<T>: Send if Sync, Sync if Sync = btree_map::Iter<'static, T, T>;
        BTreeMapIterMut<T>: Send if Both, Sync if Sync = btree_map::IterMut<'static, T, T>;
        BTreeSetIntoIter<T>: Send if Send, Sync if Sync = btree_set::IntoIter<T>;
        BTreeSetIter<T>: Send if Sync, Sync if Sync = btree_set::Iter<'static, T>;
        HashMapIntoIter<T>: Send if Send, Sync if Sync = hash_map::IntoIter<T, T>;
        HashMapIter<T>: Send if Sync, Sync if Sync = hash_map::Iter<'static, T, T>;
        HashMapIterMut<T>: Send if Both, Sync if Sync = hash_map::IterMut<'static, T, T>;
        HashMapDrain<T>: Send if Send, Sync if Sync = hash_map::Drain<'static, T, T>;
        HashSetIntoIter<T>: Send if Send, Sync if Sync = hash_set::IntoIter<T>;
        HashSetIter<T>: Send if Sync, Sync if Sync = hash_set::Iter<'static, T>;
        HashSetDrain<T>: Send if Send, Sync if Sync = hash_set::Drain<'static, T>;
        LinkedListIntoIter<T>: Send if Send, Sync if Sync = linked_list::IntoIter<T>;
        LinkedListIter<T>: Send if Sync, Sync if Sync = linked_list::Iter<'static, T>;
        LinkedListIterMut<T>: Send if Send, Sync if Sync = linked_list::IterMut<'static, T>;
        VecDequeIntoIter<T>: Send if Send, Sync if Sync = vec_deque::IntoIter<T>;
        VecDequeIter<T>: Send if Sync, Sync if Sync = vec_deque::Iter<'static, T>;
        VecDequeIterMut<T>: Send if Send, Sync if Sync = vec_deque::IterMut<'static, T>;
        VecDequeDrain<T>: Send if Send, Sync if Sync = vec_deque::Drain<'static, T>;
        SliceIter<T>: Send if Sync, Sync if Sync = slice::Iter<'static, T>;
        SliceIterMut<T>: Send if Send, Sync if Sync = slice::IterMut<'static, T>;
        SliceChunks<T>: Send if Sync, Sync if Sync = slice::Chunks<'static, T>;
        SliceChunksExact<T>: Send if Sync, Sync if Sync = slice::ChunksExact<'static, T>;
        SliceRChunks<T>: Send if Sync, Sync if Sync = slice::RChunks<'static, T>;
        SliceRChunksExact<T>: Send if Sync, Sync if Sync = slice::RChunksExact<'static, T>;
        SliceWindows<T>: Send if Sync, Sync if Sync = slice::Windows<'static, T>;
        ArrayWindows<T>: Send if Sync, Sync if Sync = slice::ArrayWindows<'static, T, 2>;
        SliceChunksMut<T>: Send if Send, Sync if Sync = slice::ChunksMut<'static, T>;
        SliceChunksExactMut<T>: Send if Send, Sync if Sync = slice::ChunksExactMut<'static, T>;
        SliceRChunksMut<T>: Send if Send, Sync if Sync = slice::RChunksMut<'static, T>;
        SliceRChunksExactMut<T>: Send if Send, Sync if Sync = slice::RChunksExactMut<'static, T>;
        SliceSplit<T>: Send if Sync, Sync if Sync = slice::Split<'static, T, ()>;
        SliceSplitInclusive<T>: Send if Sync, Sync if Sync = slice::SplitInclusive<'static, T, ()>;
        SliceChunkBy<T>: Send if Sync, Sync if Sync = slice::ChunkBy<'static, T, ()>;
        SliceSplitMut<T>: Send if Send, Sync if Sync = slice::SplitMut<'static, T, ()>;
        SliceSplitInclusiveMut<T>: Send if Send, Sync if Sync =
            slice::SplitInclusiveMut<'static, T, ()>;
        SliceChunkByMut<T>: Send if Send, Sync if Sync = slice::ChunkByMut<'static, T, ()>;
        TextSplit<T>: Send if Send, Sync if Sync = str::Split<'static, T>;
        TextSplitInclusive<T>: Send if Send, Sync if Sync = str::SplitInclusive<'static, T>;
        TextSplitTerminator<T>: Send if Send, Sync if Sync = str::SplitTerminator<'static, T>;
        TextMatches<T>: Send if Send, Sync if Sync = str::Matches<'static, T>;
        TextMatchIndices<T>: Send if Send, Sync if Sync = str::MatchIndices<'static, T>;
    }

    /// Its parameter must be a parallel iterator, so its items can be sent.
    #[test]
    fn intersperse() {
        use sateen_testkit::parameters::{Both, OnlySend};

        sateen_testkit::is!(iter::Intersperse<option::IntoIter<Both>>: Send);
        sateen_testkit::is!(iter::Intersperse<option::IntoIter<Both>>: Sync);
        sateen_testkit::is!(iter::Intersperse<option::IntoIter<OnlySend>>: Send);
        sateen_testkit::not!(iter::Intersperse<option::IntoIter<OnlySend>>: Sync);
    }
}
