//! Which pages of a database hold something.

use std::collections::HashSet;
use std::ops::Range;

/// Where the pages that are in use lie in the file of a SQLite database; the others are on the list of free pages, and
/// what is in them is nobody's (`SQLite Database File Format`, 1.3 and 1.5).
pub(super) fn in_use(file: &[u8]) -> Vec<Range<usize>> {
    let page_bytes = match u16::from_be_bytes([file[16], file[17]]) {
        1 => 1 << 16,
        bytes => usize::from(bytes),
    };
    let begin = |page: u32| (page as usize - 1) * page_bytes;
    let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let mut free = HashSet::new();
    let mut trunk = number(32);
    while trunk > 0 {
        let leaves = number(begin(trunk) + 4);
        free.insert(trunk);
        free.extend((0..leaves as usize).map(|leaf| number(begin(trunk) + 8 + 4 * leaf)));
        trunk = number(begin(trunk));
    }
    let pages = 1..=u32::try_from(file.len() / page_bytes).expect("fewer pages");
    pages.filter(|page| !free.contains(page)).map(|page| begin(page)..begin(page) + page_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six pages of 512 bytes, of which `trunks` lists the free ones.
    fn file(trunks: &[(u32, &[u32])]) -> Vec<u8> {
        let mut file = vec![0; 6 * 512];
        file[16..18].copy_from_slice(&512_u16.to_be_bytes());
        let mut link = 32;
        for (trunk, leaves) in trunks {
            file[link..link + 4].copy_from_slice(&trunk.to_be_bytes());
            link = (*trunk as usize - 1) * 512;
            let count = u32::try_from(leaves.len()).expect("few");
            for (place, number) in [&count].into_iter().chain(*leaves).enumerate() {
                let at = link + 4 + 4 * place;
                file[at..at + 4].copy_from_slice(&number.to_be_bytes());
            }
        }
        file
    }

    fn pages(file: &[u8]) -> Vec<usize> {
        in_use(file).iter().map(|page| page.start / 512 + 1).collect()
    }

    #[test]
    fn pages_on_the_free_list_are_left_out() {
        assert_eq!(pages(&file(&[])), [1, 2, 3, 4, 5, 6]);
        assert_eq!(pages(&file(&[(3, &[5])])), [1, 2, 4, 6]);
        assert_eq!(pages(&file(&[(3, &[5]), (2, &[])])), [1, 4, 6]);
    }
}
