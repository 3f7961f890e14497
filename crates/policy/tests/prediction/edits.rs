//! How many pages must be taken out of one list and put into it to get another (Myers' algorithm).

/// Returns the least number of removals and insertions that turn `from` into `to`. Takes time in
/// proportion to the lists' lengths times that number.
pub(crate) fn edit_distance<T: PartialEq>(from: &[T], to: &[T]) -> usize {
    let most = from.len() + to.len();
    // For each diagonal, which is a place in `from` less one in `to`, how far in `from` so many edits
    // reach. `zero` is the diagonal on which both places are the same.
    let zero = most + 1;
    let mut reach = vec![0; 2 * most + 3];
    for edits in 0..=most {
        for diagonal in (zero - edits..=zero + edits).step_by(2) {
            // Inserting comes from the diagonal above, removing from the one below.
            let (inserted, removed) = (reach[diagonal + 1], reach[diagonal - 1] + 1);
            let only_inserts = diagonal == zero - edits;
            let only_removes = diagonal == zero + edits;
            let mut place = match edits {
                0 => 0,
                _ if only_inserts => inserted,
                _ if only_removes => removed,
                _ => inserted.max(removed),
            };
            let other = |place: usize| (place + zero).checked_sub(diagonal);
            while let Some(left) = from.get(place)
                && other(place).and_then(|other| to.get(other)) == Some(left)
            {
                place += 1;
            }
            reach[diagonal] = place;
            if place >= from.len() && other(place).is_some_and(|other| other >= to.len()) {
                return edits;
            }
        }
    }
    most
}

#[test]
fn the_distance_is_the_least_number_of_edits() {
    let of = |from: &str, to: &str| edit_distance(from.as_bytes(), to.as_bytes());
    assert_eq!(of("", ""), 0);
    assert_eq!(of("", "abc"), 3);
    assert_eq!(of("abc", ""), 3);
    assert_eq!(of("abc", "abc"), 0);
    assert_eq!(of("abc", "bca"), 2);
    assert_eq!(of("abcabba", "cbabac"), 5);
    assert_eq!(of("abcdef", "fedcba"), 10);
}

#[test]
fn the_distance_is_that_of_the_longest_common_subsequence() {
    let mut seed = 1_u32;
    let mut letters = |count: usize| -> Vec<u32> {
        (0..count)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) % 5
            })
            .collect()
    };
    for round in 0..200 {
        let (from, to) = (letters(round % 13), letters(round % 17));
        let mut common = vec![vec![0; to.len() + 1]; from.len() + 1];
        for (row, left) in from.iter().enumerate() {
            for (column, right) in to.iter().enumerate() {
                common[row + 1][column + 1] = if left == right {
                    common[row][column] + 1
                } else {
                    common[row][column + 1].max(common[row + 1][column])
                };
            }
        }
        let expected = from.len() + to.len() - 2 * common[from.len()][to.len()];
        assert_eq!(edit_distance(&from, &to), expected, "{from:?} {to:?}");
    }
}
