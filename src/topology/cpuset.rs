//! A set of CPU numbers. How the kernel's spellings of one are read is in `cpuparse`.

use std::fmt;

/// One more than the largest CPU number accepted: the largest `CONFIG_NR_CPUS` any kernel has.
pub const MAX_CPUS: u32 = 8192;

const WORD_BITS: u32 = 64;

/// A set of CPU numbers below [`MAX_CPUS`] (also used for NUMA node numbers, which the kernel prints
/// the same way). Equal sets compare, hash and order equal whatever the way they were built.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuSet {
    /// Bit `n % 64` of word `n / 64`; the last word is never 0, so that `Eq` can be derived.
    words: Vec<u64>,
}

impl CpuSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of one CPU. A number of [`MAX_CPUS`] or more gives the empty set.
    pub fn single(cpu: u32) -> Self {
        let mut set = Self::new();
        set.insert(cpu);
        set
    }

    /// Every CPU from `first` to `last`, both included; numbers from [`MAX_CPUS`] on are left out.
    pub fn range(first: u32, last: u32) -> Self {
        let mut set = Self::new();
        set.insert_range(first, last);
        set
    }

    /// Adds one CPU. A number of [`MAX_CPUS`] or more is ignored.
    pub fn insert(&mut self, cpu: u32) {
        if cpu >= MAX_CPUS {
            return;
        }
        let word = (cpu / WORD_BITS) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if let Some(slot) = self.words.get_mut(word) {
            *slot |= 1 << (cpu % WORD_BITS);
        }
    }

    pub(super) fn insert_range(&mut self, first: u32, last: u32) {
        let last = last.min(MAX_CPUS - 1);
        if first > last {
            return;
        }
        self.insert(last);
        // Whole words at a time: a damaged file may repeat "0-8191" thousands of times.
        let (first_word, last_word) = (first / WORD_BITS, last / WORD_BITS);
        for (index, word) in (0u32..).zip(&mut self.words) {
            if index < first_word || index > last_word {
                continue;
            }
            let low = if index == first_word {
                first % WORD_BITS
            } else {
                0
            };
            let high = if index == last_word {
                last % WORD_BITS
            } else {
                WORD_BITS - 1
            };
            *word |= (u64::MAX << low) & (u64::MAX >> (WORD_BITS - 1 - high));
        }
    }

    /// Whether `cpu` is in the set.
    pub fn contains(&self, cpu: u32) -> bool {
        self.words
            .get((cpu / WORD_BITS) as usize)
            .is_some_and(|word| word >> (cpu % WORD_BITS) & 1 == 1)
    }

    /// How many CPUs the set has.
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether the set has no CPU.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lowest CPU number, `None` for the empty set.
    pub fn first(&self) -> Option<u32> {
        self.iter().next()
    }

    /// The CPU numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.words).flat_map(|(index, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(index * WORD_BITS + bit)
            })
        })
    }

    /// Whether every CPU of this set is in `other` too.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.len() <= other.words.len()
            && self
                .words
                .iter()
                .zip(&other.words)
                .all(|(a, b)| a & !b == 0)
    }

    /// The CPUs in both sets.
    pub fn intersect(&self, other: &Self) -> Self {
        Self::trimmed(
            self.words
                .iter()
                .zip(&other.words)
                .map(|(a, b)| a & b)
                .collect(),
        )
    }

    /// The CPUs in either set.
    pub fn union(&self, other: &Self) -> Self {
        let (long, short) = if self.words.len() >= other.words.len() {
            (self, other)
        } else {
            (other, self)
        };
        let mut words = long.words.clone();
        for (word, add) in words.iter_mut().zip(&short.words) {
            *word |= add;
        }
        Self { words }
    }

    /// The CPUs of this set that are not in `other`.
    pub fn minus(&self, other: &Self) -> Self {
        let mut words = self.words.clone();
        for (word, drop) in words.iter_mut().zip(&other.words) {
            *word &= !drop;
        }
        Self::trimmed(words)
    }

    fn trimmed(mut words: Vec<u64>) -> Self {
        while words.last() == Some(&0) {
            words.pop();
        }
        Self { words }
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut set = Self::new();
        for cpu in cpus {
            set.insert(cpu);
        }
        set
    }
}

impl fmt::Display for CpuSet {
    /// The kernel's list form (`0-3,8`); nothing for the empty set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut comma = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while cpus.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_operations_keep_equal_sets_equal() {
        let a = CpuSet::range(0, 70);
        let b = CpuSet::range(64, 100);
        assert_eq!(a.intersect(&b), CpuSet::range(64, 70));
        assert_eq!(a.minus(&b), CpuSet::range(0, 63));
        assert_eq!(a.union(&b), CpuSet::range(0, 100));
        assert_eq!(b.union(&a), a.union(&b));
        assert!(CpuSet::single(3).is_subset(&a) && !b.is_subset(&a));
        assert_eq!(a.minus(&a), CpuSet::new());
        assert!(a.minus(&a).is_empty() && a.minus(&a).first().is_none());
        assert_eq!(
            (b.first(), b.len(), b.contains(64), b.contains(63)),
            (Some(64), 37, true, false)
        );
        assert_eq!(CpuSet::single(MAX_CPUS), CpuSet::new());
        assert_eq!(a.iter().collect::<CpuSet>(), a);
    }
}
